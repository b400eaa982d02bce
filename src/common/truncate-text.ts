/** A high surrogate without its low one. */
const HALF_PAIR_AT_END = /[\uD800-\uDBFF]$/

/** Cuts a text after `charsMax` characters, not inside of a surrogate pair, and appends a mark: the number of omitted characters. */
export function truncateText(text: string, charsMax: number, mark?: string): string {
  if (text.length <= charsMax) return text
  return `${text.slice(0, charsMax).replace(HALF_PAIR_AT_END, '')}${mark ?? `… (${text.length - charsMax} more characters)`}`
}

/** Cuts a text so that it has at most `bytesMax` bytes of UTF-8, of which the last character is `…`. */
export function truncateBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= bytesMax) return text
  const kept = bytes.subarray(0, bytesMax - Buffer.byteLength('…')).toString()
  return `${kept.replace(/\uFFFD+$/, '')}…`
}
