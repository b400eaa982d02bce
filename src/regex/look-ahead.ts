/** An expression with leading look-aheads, split into its parts. */
export type LeadingLookAhead = {
  /** Expressions that the text must, or must not, start with. */
  readonly conditions: readonly { readonly source: string; readonly isWanted: boolean }[]
  /** The rest of the expression. */
  readonly rest: string
}

const TOKEN = /\\.|\[(?:\\.|[^\\\]])*\]|\((?:\?(?:<?[=!]|<\w+>|[a-z-]*:))?|[\s\S]/gu

/**
 * Splits the leading look-aheads off an expression that is anchored at the start of the text. There, `(?=A)(?!B)C`
 * equals three expressions: A and C match, B does not. Returns undefined for other forms, and if a group in a condition
 * would change the numbers of other groups.
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
    // A quantifier changes the meaning of the condition.
    if (/^[*+?{]/.test(rest)) return undefined
  }
  return conditions.length === 0 || hasAlternatives(rest) ? undefined : { conditions, rest }
}

function openingOf(text: string): string | undefined {
  return /^\(\?[=!]/.exec(text)?.[0]
}

/** The index of the end of the group at the start of the text. */
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
