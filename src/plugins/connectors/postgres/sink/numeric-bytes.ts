import type { BinaryWriter } from '../../../../common/binary-writer.ts'
import type { Decimal } from '../../../../sdk/index.ts'

// PostgreSQL's binary form of a numeric: digits to the base 10,000, aligned at the decimal point, the power of the first
// digit (the weight), the sign and the number of decimal places that are shown.

const BASE = 10_000
const BASE_DIGITS = 4
const NEGATIVE = 0x4000
/** The number of digits is written in 16 bits. */
const DIGITS_MAX = 0x7fff
/** Powers of ten that align a scale to whole digits to the base. */
const ALIGNMENT = [1, 1_000, 100, 10] as const
const ALIGNMENT_BIGINT = ALIGNMENT.map(BigInt)

/** Writes the length in four bytes, and the value. Returns false if it has more digits than the form can have. */
export function writeNumeric(to: BinaryWriter, { unscaled, scale }: Decimal): boolean {
  const isNegative = unscaled < 0n
  const digits = toDigits(isNegative ? -unscaled : unscaled, scale)
  if (digits.length > DIGITS_MAX) return false
  to.int32(8 + 2 * digits.length)
  to.int16(digits.length)
  to.int16(digits.length === 0 ? 0 : digits.length - Math.ceil(scale / BASE_DIGITS) - 1)
  to.int16(isNegative ? NEGATIVE : 0)
  to.int16(scale)
  for (let index = digits.length - 1; index >= 0; index -= 1) to.int16(digits[index]!)
  return true
}

/** Returns the digits to the base, the last one first. */
function toDigits(unscaled: bigint, scale: number): readonly number[] {
  const remainder = scale % BASE_DIGITS
  const exact = Number(unscaled) * ALIGNMENT[remainder]!
  if (Number.isSafeInteger(exact)) return digitsOf(exact)
  const text = String(unscaled * ALIGNMENT_BIGINT[remainder]!)
  const digits: number[] = []
  for (let end = text.length; end > 0; end -= BASE_DIGITS) {
    digits.push(Number(text.slice(Math.max(0, end - BASE_DIGITS), end)))
  }
  return digits
}

function digitsOf(number: number): readonly number[] {
  const digits: number[] = []
  for (let rest = number; rest > 0; rest = Math.floor(rest / BASE)) digits.push(rest % BASE)
  return digits
}
