import type { JavaPattern } from '../../../../../java-compat/java-regex.ts'

type Patterns = readonly JavaPattern[]

export type TableFilterConfig = Readonly<
  Record<
    | 'schema.include.list'
    | 'schema.exclude.list'
    | 'table.include.list'
    | 'table.exclude.list'
    | 'message.prefix.include.list'
    | 'message.prefix.exclude.list',
    Patterns
  >
> & { readonly 'signal.data.collection'?: string | undefined }

type Name = { readonly schema: string; readonly name: string }

/** Decides which tables and logical messages are captured. */
export class TableFilter {
  readonly #config: TableFilterConfig
  readonly #tables = new Map<string, boolean>()

  constructor(config: TableFilterConfig) {
    this.#config = config
  }

  includes({ schema, name }: Name): boolean {
    const table = `${schema}.${name}`
    const known = this.#tables.get(table)
    if (known !== undefined) return known
    const isIncluded = this.#decide(schema, table)
    this.#tables.set(table, isIncluded)
    return isIncluded
  }

  includesMessage(prefix: string): boolean {
    const { 'message.prefix.include.list': include, 'message.prefix.exclude.list': exclude } = this.#config
    return isSelected(prefix, include, exclude)
  }

  #decide(schema: string, table: string): boolean {
    const { 'signal.data.collection': signals, ...lists } = this.#config
    if (table === signals) return true
    if (/^pg_|^information_schema$/.test(schema)) return false
    return (
      isSelected(schema, lists['schema.include.list'], lists['schema.exclude.list']) &&
      isSelected(table, lists['table.include.list'], lists['table.exclude.list'])
    )
  }
}

function isSelected(name: string, include: Patterns, exclude: Patterns): boolean {
  const matches = (patterns: Patterns) => patterns.some((pattern) => pattern.test(name))
  return include.length > 0 ? matches(include) : !matches(exclude)
}
