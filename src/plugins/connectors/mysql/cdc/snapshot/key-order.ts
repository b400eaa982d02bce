import { bytesLiteral, mysqlQuoted, textLiteral } from '../../sql-literal.ts'
import type { HistoryColumn } from '../table-model.ts'
import { baseTypeOf } from '../values/mysql-representations.ts'

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '))

const NUMBERS = set(
  'BOOL BOOLEAN TINYINT INT1 SMALLINT INT2 MEDIUMINT INT3 MIDDLEINT INT INTEGER INT4 BIGINT INT8 SERIAL DECIMAL DEC FIXED NUMERIC YEAR',
)
const BYTES = set('BINARY VARBINARY TINYBLOB BLOB MEDIUMBLOB LONGBLOB')
const TEXTS = set(
  'CHAR VARCHAR TINYTEXT TEXT MEDIUMTEXT LONGTEXT NCHAR NVARCHAR CHARACTER DATE DATETIME TIMESTAMP TIME UUID',
)
/** They are ordered by the numbers of their labels, of which rows have the text. */
const LABELS = set('ENUM SET')
const NUMBER = /^-?\d+(?:\.\d+)?$/

/** The expression that orders rows as the literals of their cells are compared; undefined for other types. */
export function orderExpression(column: HistoryColumn): string | undefined {
  const base = baseTypeOf(column)
  const name = mysqlQuoted(column.name)
  if (LABELS.has(base)) return `CONCAT(${name})`
  return NUMBERS.has(base) || BYTES.has(base) || TEXTS.has(base) || base === 'BIT' ? name : undefined
}

/** A cell of such a column as an SQL literal. */
export function keyLiteral(column: HistoryColumn, text: string): string {
  const base = baseTypeOf(column)
  if (base === 'BIT') return String(BigInt(`0x0${Buffer.from(text, 'latin1').toString('hex')}`))
  if (BYTES.has(base) || column.charsetName === 'binary') return bytesLiteral(Buffer.from(text, 'latin1'))
  if (!NUMBERS.has(base)) return textLiteral(text)
  if (NUMBER.test(text)) return text
  throw new Error(`the key of a chunk has the value ${text.slice(0, 100)}, which is not a number`)
}
