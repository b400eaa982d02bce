import type { JavaPattern } from '../../../../java-compat/java-regex.ts'

/** Names to include and to exclude, of which only one may be set. */
export type NameSelection = { readonly include: readonly JavaPattern[]; readonly exclude: readonly JavaPattern[] }

export type CaptureSelection = {
  /** Of the part of a name before the dot: PostgreSQL's schemas, and the databases of MySQL. */
  readonly schemas: NameSelection
  /** Of `schema.table`. */
  readonly tables: NameSelection
  readonly isSystemSchema: (schema: string) => boolean
  /** The table of signals, which is always captured. */
  readonly signalTable: string | undefined
}

type Name = { readonly schema: string; readonly name: string }

/** Decides which tables are captured. */
export class TableFilter {
  readonly #selection: CaptureSelection
  readonly #tables = new Map<string, boolean>()

  constructor(selection: CaptureSelection) {
    this.#selection = selection
  }

  includes({ schema, name }: Name): boolean {
    const table = `${schema}.${name}`
    const known = this.#tables.get(table)
    if (known !== undefined) return known
    const isIncluded = this.#decide(schema, table)
    this.#tables.set(table, isIncluded)
    return isIncluded
  }

  /** Whether tables of a schema may be captured. */
  includesSchema(schema: string): boolean {
    const { schemas, isSystemSchema } = this.#selection
    return !isSystemSchema(schema) && isSelected(schema, schemas)
  }

  #decide(schema: string, table: string): boolean {
    const { tables, signalTable } = this.#selection
    return table === signalTable || (this.includesSchema(schema) && isSelected(table, tables))
  }
}

export function isSelected(name: string, { include, exclude }: NameSelection): boolean {
  const matches = (patterns: readonly JavaPattern[]) => patterns.some((pattern) => pattern.test(name))
  return include.length > 0 ? matches(include) : !matches(exclude)
}
