import { type HistoryColumn, unescapedCharacter } from '../table-model.ts'
import { baseTypeOf } from './mysql-representations.ts'

const INTEGERS = new Set(
  'BOOL BOOLEAN TINYINT INT1 SMALLINT INT2 MEDIUMINT INT3 MIDDLEINT INT INTEGER INT4 BIGINT INT8'.split(' '),
)
const DECIMALS = new Set(['DECIMAL', 'DEC', 'FIXED', 'NUMERIC'])
const TIMES = new Set(['DATE', 'DATETIME', 'TIMESTAMP'])

/** The default of a column in the form in which the server prints values; undefined if it has none that is a literal. */
export function defaultText(column: HistoryColumn): string | undefined {
  const { defaultExpression: expression, scale = 0 } = column
  if (expression === undefined || expression === null) return undefined
  const base = baseTypeOf(column)
  const word = expression.trim()
  if (INTEGERS.has(base)) return integerText(word)
  if (DECIMALS.has(base)) return decimalText(word, scale)
  if (base === 'BIT') return bitsText(word, column.length ?? 1)
  if (TIMES.has(base)) return timeText(base, word, column)
  if (/^(?:JSON|POINT|GEOMETRY)/.test(base)) return undefined
  return expression.replaceAll("''", "'").replaceAll(/\\(.)/gs, (_, character: string) => unescapedCharacter(character))
}

function integerText(word: string): string | undefined {
  if (/^(?:true|false)$/i.test(word)) return word.toLowerCase() === 'true' ? '1' : '0'
  if (/^[-+]?\d+$/.test(word)) return String(BigInt(word.replace('+', '')))
  const rounded = Math.round(Number(word))
  return Number.isFinite(rounded) ? String(rounded) : undefined
}

function decimalText(word: string, scale: number): string | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^([-+]?)(\d*)(?:\.(\d*))?$/.exec(word) ?? []
  if (whole === '' && fraction === '') return undefined
  const digits = fraction.slice(0, scale).padEnd(scale, '0')
  return `${sign === '-' ? '-' : ''}${whole || '0'}${scale > 0 ? `.${digits}` : ''}`
}

function bitsText(word: string, length: number): string | undefined {
  if (length === 1) return /^(?:true|0*1)$/i.test(word) ? '\u0001' : '\0'
  if (!/^[01]+$/.test(word)) return undefined
  const bits = BigInt(`0b${word}`)
  const bytes = (length + 7) >> 3
  return Buffer.from(bits.toString(16).padStart(bytes * 2, '0'), 'hex').toString('latin1')
}

/** The time of the insert is the epoch, as with Debezium, because consumers need some default. An optional column has none then. */
function timeText(base: string, word: string, { isOptional }: HistoryColumn): string | undefined {
  const text = word === '0' ? '0000-00-00 00:00:00' : word
  if (base === 'TIMESTAMP' && isOptional && /^1970-01-01 00:00:00/.test(text)) return undefined
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined
  if (base === 'DATE') return text.slice(0, 10)
  return text.length === 10 ? `${text} 00:00:00` : text
}
