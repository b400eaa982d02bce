/** An expression that begins with look-ahead, taken apart. */
export type LeadingLookAhead = {
  /** What the text has to begin with, or must not begin with. */
  readonly conditions: readonly { readonly source: string; readonly isWanted: boolean }[]
  /** What the text has to match besides. */
  readonly rest: string
}

const TOKEN = /\\.|\[(?:\\.|[^\\\]])*\]|\((?:\?(?:<?[=!]|<\w+>|[a-z-]*:))?|[\s\S]/gu

/**
 * Takes look-ahead off the beginning of an expression that is matched at the beginning of a text only. There,
 * `(?=A)(?!B)C` is the same as three expressions: A and C match, B does not. Undefined where the expression is of
 * another form, or where a group in a condition would change the numbers of the others.
 */
export function leadingLookAhead(source: string): LeadingLookAhead | undefined {
  let rest = source.replace(/^\^*/, '')
  const conditions: { source: string; isWanted: boolean }[] = []
  for (let opening = openingOf(rest); opening; opening = openingOf(rest)) {
    const end = endOfGroup(rest)
    const condition = rest.slice(opening.length, end)
    if (end === undefined || hasCapture(condition)) return undefined
    conditions.push({ source: condition, isWanted: opening === '(?=' })
    rest = rest.slice(end + 1)
    // A repeated condition is another one.
    if (/^[*+?{]/.test(rest)) return undefined
  }
  return conditions.length === 0 || hasAlternatives(rest) ? undefined : { conditions, rest }
}

function openingOf(text: string): string | undefined {
  return /^\(\?[=!]/.exec(text)?.[0]
}

/** Where the group ends that the text begins with. */
function endOfGroup(text: string): number | undefined {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token.startsWith('(')) depth += 1
    if (token === ')') depth -= 1
    if (depth === 0) return index
  }
  return undefined
}

function hasCapture(source: string): boolean {
  return [...source.matchAll(TOKEN)].some(
    ([token]) => token === '(' || (token.startsWith('(?<') && token.endsWith('>')),
  )
}

function hasAlternatives(source: string): boolean {
  let depth = 0
  for (const [token] of source.matchAll(TOKEN)) {
    if (token.startsWith('(')) depth += 1
    if (token === ')') depth -= 1
    if (token === '|' && depth === 0) return true
  }
  return false
}
