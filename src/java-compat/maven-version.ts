/** A version as Maven orders it. */
type Item =
  | { readonly type: 'number'; readonly value: bigint }
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'list'; readonly items: Item[] }

/** Qualifiers before and after a release, which is the empty one. Others follow, in alphabetical order. */
const QUALIFIERS = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp']
const RELEASE = rankOf('')
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['cr', 'rc'],
  ['ga', ''],
  ['final', ''],
  ['release', ''],
])
const SHORT: ReadonlyMap<string, string> = new Map([
  ['a', 'alpha'],
  ['b', 'beta'],
  ['m', 'milestone'],
])
/** Limit of a version's length: lists nest by each separator. */
const CHARACTERS_MAX = 1_000

/** Negative when `a` is older, 0 when both are the same version, as `1.0` and `1.0.0.Final` are. */
export function compareMavenVersions(a: string, b: string): number {
  return compareItems(parseVersion(a), parseVersion(b))
}

function parseVersion(version: string): Item {
  const root: Item & { type: 'list' } = { type: 'list', items: [] }
  const lists = [root]
  const add = (item: Item) => lists.at(-1)!.items.push(item)
  const nest = () => {
    const list: Item & { type: 'list' } = { type: 'list', items: [] }
    add(list)
    lists.push(list)
  }
  const text = version.slice(0, CHARACTERS_MAX).toLowerCase()
  const tokens = [...text.matchAll(/(\d+|[^\d.-]+|(?=[.-]))([.-]?)/g)]
  for (const [index, [, token = '', separator = '']] of tokens.entries()) {
    const isLast = index === tokens.length - 1
    const isNumber = /^\d/.test(token)
    // A qualifier at the end is a part of its own, whatever separates it: 1.0.rc is 1.0-rc.
    if (isLast && separator === '' && !isNumber && lists.at(-1)!.items.length > 0) nest()
    if (token === '') add({ type: 'number', value: 0n })
    else add(isNumber ? { type: 'number', value: BigInt(token) } : textItem(token, separator === '' && !isLast))
    if (separator === '-' || (separator === '' && !isLast)) nest()
  }
  for (const list of lists.toReversed()) normalize(list.items)
  return root
}

function textItem(token: string, isFollowedByNumber: boolean): Item {
  const long = (isFollowedByNumber ? SHORT.get(token) : undefined) ?? token
  return { type: 'text', value: ALIASES.get(long) ?? long }
}

function normalize(items: Item[]): void {
  for (let at = items.length - 1; at >= 0; at--) {
    const item = items[at]!
    if (isNull(item)) items.splice(at, 1)
    else if (item.type !== 'list') break
  }
}

function isNull(item: Item): boolean {
  switch (item.type) {
    case 'number':
      return item.value === 0n
    case 'text':
      return item.value === ''
    case 'list':
      return item.items.length === 0
  }
}

function compareItems(a: Item | undefined, b: Item | undefined): number {
  if (a === undefined) return b === undefined ? 0 : -compareToNothing(b)
  if (b === undefined) return compareToNothing(a)
  if (a.type === 'number' && b.type === 'number') return sign(a.value, b.value)
  if (a.type === 'text' && b.type === 'text') return sign(rankOf(a.value), rankOf(b.value))
  if (a.type === 'list' && b.type === 'list') {
    for (let at = 0; at < Math.max(a.items.length, b.items.length); at++) {
      const order = compareItems(a.items[at], b.items[at])
      if (order !== 0) return order
    }
    return 0
  }
  return TYPES.indexOf(a.type) - TYPES.indexOf(b.type)
}

/** A text is older than a list, and a list than a number: `1.x` < `1-1` < `1.1`. */
const TYPES: readonly Item['type'][] = ['text', 'list', 'number']

function compareToNothing(item: Item): number {
  switch (item.type) {
    case 'number':
      return item.value === 0n ? 0 : 1
    case 'text':
      return sign(rankOf(item.value), RELEASE)
    case 'list':
      return item.items.map(compareToNothing).find((order) => order !== 0) ?? 0
  }
}

function rankOf(qualifier: string): string {
  const rank = QUALIFIERS.indexOf(qualifier)
  return rank >= 0 ? String(rank) : `${QUALIFIERS.length}-${qualifier}`
}

function sign<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : Number(a > b)
}
