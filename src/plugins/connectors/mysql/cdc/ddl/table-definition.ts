import { type ColumnDefinition, charsetOfCollation, readColumnDefinition } from './column-definition.ts'
import { SqlSyntaxError } from './sql-tokens.ts'
import { isKeyword, splitAtCommas, TokenReader } from './token-reader.ts'

/** What a CREATE TABLE says about columns and keys. */
export type TableDefinition = {
  readonly columns: readonly ColumnDefinition[]
  readonly primaryKey: readonly string[]
  readonly uniqueKeys: readonly (readonly string[])[]
  readonly charset: string | undefined
  readonly comment: string | undefined
}

const NOT_COLUMNS = [
  'PRIMARY',
  'KEY',
  'INDEX',
  'UNIQUE',
  'FULLTEXT',
  'SPATIAL',
  'VECTOR',
  'CONSTRAINT',
  'FOREIGN',
  'CHECK',
]

/** Reads from the parenthesis before the columns to the end of the statement. */
export function readTableDefinition(reader: TokenReader): TableDefinition {
  if (!reader.isAtSymbol('(')) throw new SqlSyntaxError('the columns of the new table are not in the statement')
  const columns: ColumnDefinition[] = []
  const uniqueKeys: (readonly string[])[] = []
  let primaryKey: readonly string[] = []
  for (const part of splitAtCommas(reader.parentheses())) {
    const item = new TokenReader(part)
    const isKey = NOT_COLUMNS.some((word) => isKeyword(part[0], word))
    const isPeriod = item.isAt('PERIOD', 'FOR')
    if (!isKey && !isPeriod) {
      columns.push(readColumnDefinition(item.name(), item))
      continue
    }
    const key = isPeriod ? undefined : readKey(item)
    if (key?.kind === 'primary') primaryKey = key.columns
    if (key?.kind === 'unique') uniqueKeys.push(key.columns)
  }
  const inline = columns.filter(({ isPrimaryKey }) => isPrimaryKey).map(({ column }) => column.name)
  return { columns, primaryKey: primaryKey.length > 0 ? primaryKey : inline, uniqueKeys, ...readTableOptions(reader) }
}

/** A key or constraint of a table; undefined if it does not identify rows. */
export function readKey(
  item: TokenReader,
): { readonly kind: 'primary' | 'unique'; readonly columns: readonly string[] } | undefined {
  if (
    item.accept('CONSTRAINT') &&
    !item.isAt('PRIMARY') &&
    !item.isAt('UNIQUE') &&
    !item.isAt('FOREIGN') &&
    !item.isAt('CHECK')
  ) {
    item.name()
  }
  const kind = item.accept('PRIMARY', 'KEY') ? 'primary' : item.accept('UNIQUE') ? 'unique' : undefined
  if (kind === undefined) return undefined
  while (!item.isAtEnd && !item.isAtSymbol('(')) item.take()
  if (item.isAtEnd) return undefined
  const columns = splitAtCommas(item.parentheses()).map(([first]) => first)
  // A key of an expression does not consist of columns.
  if (columns.some((first) => first === undefined || first.kind === 'symbol')) return undefined
  return { kind, columns: columns.map((first) => first!.value) }
}

/** The character set and the comment, wherever they are among the options. */
export function readTableOptions(reader: TokenReader): Pick<TableDefinition, 'charset' | 'comment'> {
  let charset: string | undefined
  let collated: string | undefined
  let comment: string | undefined
  while (!reader.isAtEnd && !reader.isAt('PARTITION', 'BY')) {
    if (reader.accept('CHARACTER', 'SET') || reader.accept('CHARSET')) {
      reader.acceptSymbol('=')
      charset = reader.name().toLowerCase()
    } else if (reader.accept('COLLATE')) {
      reader.acceptSymbol('=')
      collated = charsetOfCollation(reader.name())
    } else if (reader.accept('COMMENT')) {
      reader.acceptSymbol('=')
      comment = reader.take().value
    } else if (reader.isAt('SELECT')) {
      // The log of rows has the statement without its query.
      throw new SqlSyntaxError('the rows of the new table are not in the log, because of binlog_format=STATEMENT')
    } else if (reader.isAtSymbol('(')) reader.parentheses()
    else reader.take()
  }
  return { charset: charset ?? collated, comment }
}
