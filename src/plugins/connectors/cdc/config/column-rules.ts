import type { JavaPattern } from '../../../../java-compat/java-regex.ts'
import { type ColumnDescription, type TableDescription, TableError } from '../table.ts'
import { type ColumnDecoding, type ColumnMask, type MaskedColumn, parseColumnMasks } from './column-masks.ts'
import { parseNamePattern } from './name-patterns.ts'

/** Columns of the key of tables that match. */
export type MessageKey = { readonly table: JavaPattern; readonly columns: readonly string[] }

export type ColumnRulesConfig = Readonly<
  Record<
    'column.include.list' | 'column.exclude.list' | 'column.propagate.source.type' | 'datatype.propagate.source.type',
    readonly JavaPattern[]
  >
> & { readonly 'message.key.columns': readonly MessageKey[] } & Readonly<Record<string, unknown>>

/** Settings of columns whose names (`schema.table.column`) match expressions. */
export class ColumnRules {
  readonly #config: ColumnRulesConfig
  readonly #masks: readonly ColumnMask[]

  constructor(config: ColumnRulesConfig) {
    this.#config = config
    this.#masks = parseColumnMasks(config)
  }

  isCaptured(table: TableDescription, column: ColumnDescription): boolean {
    const { 'column.include.list': include, 'column.exclude.list': exclude } = this.#config
    const name = fullName(table, column)
    return include.length > 0 ? isMatch(include, name) : !isMatch(exclude, name)
  }

  /** Whether the type of the column is added to its schema. */
  isTypePropagated(table: TableDescription, column: ColumnDescription, typeName: string): boolean {
    const { 'column.propagate.source.type': columns, 'datatype.propagate.source.type': types } = this.#config
    return isMatch(columns, fullName(table, column)) || isMatch(types, `${table.schema}.${table.name}.${typeName}`)
  }

  /** Truncates, masks or hashes the values of a column. Undefined if no rule matches; the first one that matches applies. */
  masked(
    table: TableDescription,
    column: ColumnDescription,
    decoding: ColumnDecoding,
    describe: () => MaskedColumn,
  ): ColumnDecoding | undefined {
    const name = fullName(table, column)
    return this.#masks.find(({ columns }) => isMatch(columns, name))?.apply(decoding, describe())
  }

  /** The names of the columns of a key that replaces that of the table. Throws a `TableError` if the table has not all of them. */
  keyNames({ schema, name, columns }: TableDescription): readonly string[] | undefined {
    const found = this.#config['message.key.columns'].find(({ table }) => table.test(`${schema}.${name}`))
    return found?.columns.map((wanted) => {
      const column = columns.find((one) => one.name.toLowerCase() === wanted.toLowerCase())
      if (column !== undefined) return column.name
      const message =
        `message.key.columns has the column ${wanted} of ${schema}.${name}, which has the columns ${columns.map((one) => one.name).join(', ')} ` +
        'at this position of the stream'
      throw new TableError(message)
    })
  }
}

/** `TABLE:COLUMN,COLUMN;TABLE:COLUMN`, each table an expression. Throws an `Error` that names the key. */
export function parseMessageKeys(text: string): readonly MessageKey[] {
  const key = 'message.key.columns'
  return text
    .split(';')
    .filter((entry) => entry.trim() !== '')
    .map((entry) => {
      const [, table, columns] = /^\s*(.+):([^:]+)$/s.exec(entry) ?? []
      if (table === undefined || columns === undefined) {
        throw new Error(`Invalid value ${text} for configuration ${key}: '${entry}' is not TABLE:COLUMN,COLUMN`)
      }
      return { table: parseNamePattern(key, table), columns: columns.split(',').map((column) => column.trim()) }
    })
}

function fullName({ schema, name }: TableDescription, column: ColumnDescription): string {
  return `${schema}.${name}.${column.name}`
}

function isMatch(patterns: readonly JavaPattern[], name: string): boolean {
  return patterns.some((pattern) => pattern.test(name))
}
