import { javaDouble } from '../common/java-double.ts'
import { type Decimal, decimalToText, isDecimal, LOGICAL, type Schema } from '../sdk/index.ts'

/**
 * Converts a value to text like Java's `String.valueOf`, so that output matches that of the original plugins: `1.0E10`,
 * `[1, 2]`, `{a=1}`, `Struct{id=7}`. Dates are in UTC. Bytes, which Java does not format, are base64.
 */
export function javaText(value: unknown, schema: Schema | null): string {
  if (typeof value === 'string') return value
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number') return numberText(value, schema)
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Date) return dateText(value)
  if (isDecimal(value)) return javaDecimal(value)
  if (Array.isArray(value)) return `[${value.map((item) => javaText(item, schema?.items ?? null)).join(', ')}]`
  if (typeof value === 'object') return objectText(value, schema)
  return String(value)
}

/** Formats like `BigDecimal.toString`: with an exponent if the scale is negative or the number is very small. */
export function javaDecimal(decimal: Decimal): string {
  const { unscaled, scale } = decimal
  const digits = String(unscaled < 0n ? -unscaled : unscaled)
  const exponent = digits.length - 1 - scale
  if (scale >= 0 && exponent >= -6) return decimalToText(decimal)
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
  return `${unscaled < 0n ? '-' : ''}${digits[0]}${fraction}E${exponent > 0 ? '+' : ''}${exponent}`
}

function objectText(value: object, schema: Schema | null): string {
  if (schema?.type === 'struct') return structText(value as Record<string, unknown>, schema)
  const entries: Iterable<[unknown, unknown]> = value instanceof Map ? value : Object.entries(value)
  const pairs = [...entries].map(
    ([key, item]) => `${javaText(key, schema?.keys ?? null)}=${javaText(item, schema?.items ?? null)}`,
  )
  return `{${pairs.join(', ')}}`
}

/** Fields without a value are omitted. */
function structText(value: Readonly<Record<string, unknown>>, { fields = [] }: Schema): string {
  const present = fields.filter(({ name }) => value[name] !== null && value[name] !== undefined)
  return `Struct{${present.map(({ name, schema }) => `${name}=${javaText(value[name], schema)}`).join(',')}}`
}

function numberText(value: number, schema: Schema | null): string {
  if (schema?.name === LOGICAL.time) return dateText(new Date(value))
  if (schema?.type === 'float32') return floatText(shortestFloat(value))
  if (schema?.type === 'float64' || !Number.isInteger(value)) return floatText(value)
  return String(value)
}

/** Returns the shortest decimal number of two or more digits that rounds to this 32-bit float, as Java prints it. */
export function shortestFloat(value: number): number {
  // Keeps the sign of zero.
  if (value === 0) return value
  const float = Math.fround(value)
  for (let digits = 2; digits < 9; digits++) {
    const shorter = Number(float.toPrecision(digits))
    if (Math.fround(shorter) === float) return shorter
  }
  return value
}

function floatText(value: number): string {
  return Number.isFinite(value) ? javaDouble(value) : String(value)
}

/** Formats like `Thu Jan 01 00:00:00 UTC 1970`. */
function dateText(date: Date): string {
  const [weekday, day, month, year, time] = date.toUTCString().replace(',', '').split(' ')
  return `${weekday} ${month} ${day} ${time} UTC ${year}`
}
