/**
 * Whether a text matches a pattern in which each `*` matches any characters. Takes at most time proportional to the
 * product of both lengths.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return text === pattern
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
