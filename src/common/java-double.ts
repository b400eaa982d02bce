/** As Java's `Double.toString`: at least one fractional digit, and an exponent below 10^-3 and from 10^7. */
export function javaDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"'
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const size = Math.abs(value)
  if (size >= 1e-3 && size < 1e7) return Number.isInteger(value) ? `${value}.0` : String(value)
  const shortest = value.toExponential()
  // Of the numbers with two digits, Java takes the nearest: 4.9E-324 for the smallest double, which is 5e-324 in JavaScript.
  const [digits, exponent] = (shortest.includes('.') ? shortest : value.toExponential(1)).split('e')
  return `${digits}E${Number(exponent)}`
}
