import { MysqlProtocolError, type MysqlReader } from '../../protocol/mysql-reader.ts'

/** Bytes for a group of so many digits. */
const DIGIT_BYTES = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]
const GROUP_DIGITS = 9
const DIGITS_MAX = 65

/**
 * Reads a decimal number as text. Groups of nine digits have four bytes; the first group of the whole part and the last one of the
 * fraction may be shorter. The first bit is the inverted sign, and a negative number is inverted.
 */
export function decimalReader(precision: number, scale: number): (reader: MysqlReader) => string {
  if (precision === 0 || precision > DIGITS_MAX || scale > precision) {
    throw new MysqlProtocolError(`a decimal of ${precision} digits, ${scale} of them in its fraction, is not valid`)
  }
  const whole = groupsOf(precision - scale, true)
  const fraction = groupsOf(scale, false)
  const length = [...whole, ...fraction].reduce((sum, digits) => sum + DIGIT_BYTES[digits]!, 0)
  return (reader) => {
    const bytes = Buffer.from(reader.view(length))
    const isNegative = (bytes[0]! & 0x80) === 0
    bytes[0]! ^= 0x80
    if (isNegative) for (const index of bytes.keys()) bytes[index]! ^= 0xff
    let at = 0
    const textOf = (digits: number) => {
      const size = DIGIT_BYTES[digits]!
      at += size
      return String(bytes.readUIntBE(at - size, size)).padStart(digits, '0')
    }
    const before =
      whole
        .map(textOf)
        .join('')
        .replace(/^0+(?=\d)/, '') || '0'
    const after = fraction.map(textOf).join('')
    return `${isNegative ? '-' : ''}${before}${after === '' ? '' : `.${after}`}`
  }
}

/** The numbers of digits of the groups of a part. */
function groupsOf(digits: number, isRestFirst: boolean): readonly number[] {
  const full = Array.from({ length: Math.floor(digits / GROUP_DIGITS) }, () => GROUP_DIGITS)
  const rest = digits % GROUP_DIGITS
  if (rest === 0) return full
  return isRestFirst ? [rest, ...full] : [...full, rest]
}
