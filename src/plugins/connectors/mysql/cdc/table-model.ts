import type { TableDescription } from '../../cdc/table.ts'

/** A column as the schema history describes it. The names of the members are those of Debezium. */
export type HistoryColumn = {
  readonly name: string
  /** Number of the type in Java's `java.sql.Types`. */
  readonly jdbcType: number
  /** In upper case, with its attributes: `INT UNSIGNED`. */
  readonly typeName: string
  /** Undefined for a type without characters. */
  readonly charsetName: string | undefined
  readonly length: number | undefined
  readonly scale: number | undefined
  readonly isOptional: boolean
  readonly isAutoIncrement: boolean
  readonly isGenerated: boolean
  readonly comment: string | undefined
  /** Undefined if the column has no default; null for NULL and for an expression. */
  readonly defaultExpression: string | null | undefined
  /** The values of an enum or a set, as SQL literals. */
  readonly enumValues: readonly string[]
}

export type HistoryTable = TableDescription<HistoryColumn> & {
  readonly charsetName: string | undefined
  readonly comment: string | undefined
}

/** The name of a table with its database. */
export type TableId = { readonly schema: string; readonly name: string }

/** A change of the structure of tables. */
export type TableChange =
  | { readonly type: 'CREATE'; readonly table: HistoryTable }
  | { readonly type: 'ALTER'; readonly table: HistoryTable; readonly previousId?: TableId | undefined }
  | { readonly type: 'DROP'; readonly id: TableId }

export function tableIdKey({ schema, name }: TableId): string {
  return `${schema}\u0000${name}`
}

/** The labels of an enum or a set, without quotes. */
export function labelsOf({ enumValues }: HistoryColumn): readonly string[] {
  return enumValues.map((literal) => {
    const quote = literal[0]
    if (quote !== "'" && quote !== '"') return literal
    return literal
      .slice(1, -1)
      .replaceAll(quote + quote, quote)
      .replaceAll(/\\(.)/gs, (_, character: string) => unescapedCharacter(character))
  })
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', 0: '\0', b: '\b', Z: '\x1a' }

export function unescapedCharacter(character: string): string {
  return ESCAPES[character] ?? character
}
