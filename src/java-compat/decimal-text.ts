const PLAIN_DECIMAL = /^-?\d+\.\d*$/

/**
 * Removes the zeros at the end of the fraction, and the point if nothing is left behind it. Other texts, such as numbers with
 * an exponent, are returned unchanged.
 */
export function withoutTrailingZeros(text: string): string {
  // Not with a regular expression that ends in `0+$`, which takes quadratic time for zeros that are not at the end.
  if (!PLAIN_DECIMAL.test(text)) return text
  let end = text.length
  while (text[end - 1] === '0') end -= 1
  return text.slice(0, text[end - 1] === '.' ? end - 1 : end)
}
