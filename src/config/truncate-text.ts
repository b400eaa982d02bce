/** The beginning of a text, with the count of what is missing. */
export function truncateText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  return `${text.slice(0, charsMax)}… (${text.length - charsMax} more characters)`
}
