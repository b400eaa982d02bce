import { BoundedMap } from '../../clients/bounded-map.ts'
import type { SchemaMetadata } from '../../clients/registry-client.ts'

/** Maximum number of cached field names. A recursive schema has an unlimited number of field paths. */
const FIELD_NAMES_MAX = 10_000

/** `**` matches any characters, `*` any except dots, `?` one character except a dot. */
type Token = { readonly kind: 'any' | 'segment' | 'one' } | { readonly kind: 'literal'; readonly char: string }

/** Returns a function for the tags that the schema's metadata assigns to a field, by full name. */
export function metadataTags(metadata: SchemaMetadata | undefined): (fullName: string) => ReadonlySet<string> {
  const patterns = Object.entries(metadata?.tags ?? {})
  const known = new BoundedMap<string, ReadonlySet<string>>(FIELD_NAMES_MAX)
  return (fullName) =>
    known.get(fullName) ??
    known.set(
      fullName,
      new Set(patterns.flatMap(([pattern, tags]) => (matchesTagPattern(pattern, fullName) ? tags : []))),
    )
}

/**
 * Whether a pattern of `metadata.tags` matches the full name of a field, as in Confluent's clients: `shop.*.email`,
 * `**.ssn`. Takes time proportional to the product of both lengths.
 */
export function matchesTagPattern(pattern: string, fullName: string): boolean {
  const tokens = tokensOf(pattern.replaceAll('**.*', '**'))
  // Positions in the name that the tokens processed so far can reach.
  let reached = new Set([0])
  for (const token of tokens) reached = advance(token, reached, fullName)
  return reached.has(fullName.length)
}

function tokensOf(pattern: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at] as string
    if (char === '*' && pattern[at + 1] === '*') {
      tokens.push({ kind: 'any' })
      at += 1
    } else if (char === '*') tokens.push({ kind: 'segment' })
    else if (char === '?') tokens.push({ kind: 'one' })
    else if (char === '\\' && at + 1 < pattern.length) {
      tokens.push({ kind: 'literal', char: pattern[at + 1] as string })
      at += 1
    } else tokens.push({ kind: 'literal', char })
  }
  return tokens
}

function advance(token: Token, reached: ReadonlySet<number>, name: string): Set<number> {
  if (token.kind === 'any' || token.kind === 'segment') return advanceFar(reached, name, token.kind === 'segment')
  const takes = (char: string | undefined) =>
    token.kind === 'literal' ? char === token.char : char !== undefined && char !== '.'
  return new Set([...reached].filter((at) => takes(name[at])).map((at) => at + 1))
}

function advanceFar(reached: ReadonlySet<number>, name: string, stopsAtDots: boolean): Set<number> {
  const next = new Set<number>()
  let isOpen = false
  for (let at = 0; at <= name.length; at += 1) {
    isOpen ||= reached.has(at)
    if (isOpen) next.add(at)
    if (stopsAtDots && name[at] === '.') isOpen = false
  }
  return next
}
