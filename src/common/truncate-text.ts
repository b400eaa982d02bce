/** Cuts a text after `charsMax` characters and appends the number of omitted ones. */
export function truncateText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  return `${text.slice(0, charsMax)}… (${text.length - charsMax} more characters)`
}
