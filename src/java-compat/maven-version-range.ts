import { compareMavenVersions } from './maven-version.ts'

/** A set of versions in Maven's notation: `[1.0,2.0)`, `(,1.0],[1.2,)`, `[1.5]`. */
export type MavenVersionRange = {
  /** In the notation of Java's `VersionRange`. */
  readonly text: string
  contains(version: string): boolean
}

type Bound = { readonly version: string; readonly isInclusive: boolean }
type Restriction = { readonly lower: Bound | undefined; readonly upper: Bound | undefined }

/**
 * Parses a requirement of Kafka Connect's `plugin.version` keys: a range, or one version, which then has to match
 * exactly. Throws an `Error` with Maven's message.
 */
export function parseVersionRequirement(spec: string): MavenVersionRange {
  const text = spec.trim()
  return parseVersionRange(/^[[(]/.test(text) ? text : `[${text}]`)
}

function parseVersionRange(spec: string): MavenVersionRange {
  const restrictions: Restriction[] = []
  let rest = spec
  while (/^[[(]/.test(rest)) {
    const end = rest.search(/[)\]]/)
    if (end < 0) throw new Error(`Unbounded range: ${spec}`)
    const restriction = parseRestriction(rest.slice(0, end + 1))
    if (overlaps(restrictions.at(-1), restriction)) throw new Error(`Ranges overlap: ${spec}`)
    restrictions.push(restriction)
    rest = rest
      .slice(end + 1)
      .trim()
      .replace(/^,/, '')
      .trim()
  }
  if (rest !== '') throw new Error(`Only fully-qualified sets allowed in multiple set scenario: ${spec}`)
  return {
    text: restrictions.map(toText).join(','),
    contains: (version) => restrictions.some((restriction) => isWithin(restriction, version)),
  }
}

function parseRestriction(spec: string): Restriction {
  const [isLowerInclusive, isUpperInclusive] = [spec.startsWith('['), spec.endsWith(']')]
  const [low = '', ...others] = spec
    .slice(1, -1)
    .split(',')
    .map((version) => version.trim())
  if (others.length === 0) {
    if (!isLowerInclusive || !isUpperInclusive) throw new Error(`Single version must be surrounded by []: ${spec}`)
    const bound = { version: low, isInclusive: true }
    return { lower: bound, upper: bound }
  }
  const high = others.at(-1) ?? ''
  const lower = low === '' ? undefined : { version: low, isInclusive: isLowerInclusive }
  const upper = high === '' ? undefined : { version: high, isInclusive: isUpperInclusive }
  if (lower && upper) {
    const order = compareMavenVersions(lower.version, upper.version)
    const isEmpty = order > 0 || (order === 0 && !(isLowerInclusive && isUpperInclusive))
    if (isEmpty) throw new Error(`Range defies version ordering: ${spec}`)
  }
  return { lower, upper }
}

function overlaps(before: Restriction | undefined, next: Restriction): boolean {
  if (before === undefined) return false
  if (before.upper === undefined || next.lower === undefined) return true
  return compareMavenVersions(next.lower.version, before.upper.version) < 0
}

function isWithin({ lower, upper }: Restriction, version: string): boolean {
  return (
    isBeyond(lower, (bound) => compareMavenVersions(version, bound)) &&
    isBeyond(upper, (bound) => compareMavenVersions(bound, version))
  )
}

function isBeyond(bound: Bound | undefined, compare: (version: string) => number): boolean {
  if (bound === undefined) return true
  const order = compare(bound.version)
  return order > 0 || (order === 0 && bound.isInclusive)
}

function toText({ lower, upper }: Restriction): string {
  const [start, end] = [lower?.isInclusive ? '[' : '(', upper?.isInclusive ? ']' : ')']
  return `${start}${lower?.version ?? ''},${upper?.version ?? ''}${end}`
}
