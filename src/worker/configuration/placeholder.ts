/** A placeholder `${NAME:KEY}` or `${NAME:PATH:KEY}` in a text. */
export type Placeholder = { readonly text: string; readonly name: string; readonly path: string; readonly key: string }

/**
 * All placeholders of a text, as Kafka's regular expression `\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}` finds them. Not
 * implemented with that expression, because it takes cubic time for `${::::…`.
 */
export function placeholdersIn(text: string): readonly Placeholder[] {
  return partsOf(text).filter((part) => typeof part !== 'string')
}

/** Returns a text with its placeholders replaced. */
export function replacePlaceholders(text: string, replacement: (placeholder: Placeholder) => string): string {
  return partsOf(text)
    .map((part) => (typeof part === 'string' ? part : replacement(part)))
    .join('')
}

function partsOf(text: string): readonly (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = []
  let at = 0
  for (let start = text.indexOf('${'); start >= 0; start = text.indexOf('${', at)) {
    const end = text.indexOf('}', start)
    if (end < 0) break
    const placeholder = placeholderOf(text.slice(start, end + 1))
    parts.push(text.slice(at, start), placeholder ?? text.slice(start, end + 1))
    at = end + 1
  }
  return [...parts, text.slice(at)]
}

function placeholderOf(text: string): Placeholder | undefined {
  const inner = text.slice(2, -1)
  const nameEnd = inner.indexOf(':')
  if (nameEnd < 0) return undefined
  const name = inner.slice(0, nameEnd)
  const rest = inner.slice(nameEnd + 1)
  const pathEnd = rest.indexOf(':')
  return { text, name, path: rest.slice(0, Math.max(pathEnd, 0)), key: rest.slice(pathEnd + 1) }
}
