import { isDeepStrictEqual } from 'node:util'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import type { Position } from '../../../sdk/index.ts'
import { follow } from './json-pointer.ts'

/** How the next page is determined. */
export type Paging =
  | { readonly by: 'none' }
  | { readonly by: 'link' }
  | { readonly by: 'cursor'; readonly parameter: string; readonly pointer: readonly string[] }
  | { readonly by: 'offset' | 'page'; readonly parameter: string; readonly first: number }

export type PagesOptions = {
  readonly url: string
  readonly paging: Paging
  readonly since:
    | { readonly parameter: string; readonly pointer: readonly string[]; readonly initial: string }
    | undefined
}

/**
 * Position of a source: the current page, and how many of its records were written. A round requests all pages. With
 * `since`, later rounds request only what is new.
 */
export type PagePosition = {
  /** URL, cursor or number of the page; null for the first page. Integers beyond 2^53 are bigints, as in `since` and `high`. */
  readonly page: Mark | null
  /** Number of records of the page that were written. */
  readonly taken: number
  /**
   * `since` is the lower bound that this round requests. `high` is the highest value found so far, which becomes the
   * lower bound of the next round.
   */
  readonly since: Mark | null
  readonly high: Mark | null
}

type Mark = string | number | bigint

/** Parses a stored offset. Throws an `Error` if it was not written by this source. */
export function parsePagePosition(offset: Position | undefined): PagePosition {
  const { page = null, taken = 0, since = null, high = null } = offset ?? {}
  const areMarks = [page, since, high].every((value) => value === null || isMark(value))
  if (areMarks && Number.isSafeInteger(taken) && (taken as number) >= 0) {
    return { page, taken, since, high } as PagePosition
  }
  throw new Error(`an offset must be {page, taken, since, high} with an integer 'taken', not ${plainJson(offset)}`)
}

/** Returns the URL of a page. */
export function pageUrl({ url, paging, since }: PagesOptions, position: PagePosition): string {
  const isAddress = paging.by === 'link' || (paging.by === 'cursor' && isLink(position.page))
  if (isAddress && position.page !== null) return String(position.page)
  const address = new URL(url)
  const lowerBound = position.since ?? since?.initial ?? ''
  if (since !== undefined && lowerBound !== '') address.searchParams.set(since.parameter, String(lowerBound))
  if (paging.by === 'cursor' && position.page !== null)
    address.searchParams.set(paging.parameter, String(position.page))
  if (paging.by === 'offset' || paging.by === 'page') {
    address.searchParams.set(paging.parameter, String(position.page ?? paging.first))
  }
  return address.href
}

/**
 * Detects that the pages of a round lead back to an earlier one. It remembers the first page and one more, which it replaces after
 * 1, 2, 4, 8 … pages (Brent's algorithm), so that a cycle is found after a few of its turns, however many pages there are.
 */
export class PageCycle {
  readonly #first: string
  #remembered: string
  #pages = 0
  #pagesMax = 1
  #records: readonly unknown[] = []

  /** `first`: the URL of the first page of the round. */
  constructor(first: string) {
    this.#first = first
    this.#remembered = first
  }

  /** Whether a page has the same records as the one before it. Call it with the records of each page. */
  hasRepeatedRecords(records: readonly unknown[]): boolean {
    const isRepeated = records.length > 0 && isDeepStrictEqual(records, this.#records)
    this.#records = records
    return isRepeated
  }

  /** Whether the page was requested before. Call it with the URL of each next page. */
  isRepeated(url: string): boolean {
    if (url === this.#first || url === this.#remembered) return true
    this.#pages += 1
    if (this.#pages === this.#pagesMax) {
      this.#remembered = url
      this.#pages = 0
      this.#pagesMax *= 2
    }
    return false
  }
}

/** The parts of a response that determine the next position. */
export type PageResponse = {
  readonly body: unknown
  readonly link: string | undefined
  readonly records: readonly unknown[]
  /** The pages of this round. */
  readonly cycle: PageCycle
}

/**
 * Returns the position after each record of a page, and after the page. `last` is the position after the last record of
 * the previous page. `isOver` means that no further page is available now. Throws an `Error` if a page links to another
 * server, and if the server ignores the number of the page, because such a round would never end.
 */
export function advancePage(
  options: PagesOptions,
  position: PagePosition,
  last: PagePosition | undefined,
  response: PageResponse,
) {
  const { records, cycle } = response
  const { paging } = options
  if ((paging.by === 'offset' || paging.by === 'page') && cycle.hasRepeatedRecords(records)) {
    throw new Error(
      `with ${paging.parameter}=${position.page ?? paging.first}, the server returned the same ${records.length} records as for the page before: ` +
        'it ignores this parameter. Set paging=none, or the parameter that the server expects',
    )
  }
  const isNumbered = options.paging.by === 'page' && options.since === undefined
  let { high } = position
  const positions = records.map((record, index): PagePosition => {
    high = maxOf(high, options.since && follow(record, options.since.pointer))
    return { ...position, taken: index + 1, high }
  })
  const next = nextPage(options, position, response)
  const isOver =
    next === undefined ||
    next === position.page ||
    (records.length === 0 && options.paging.by !== 'link') ||
    cycle.isRepeated(pageUrl(options, { ...position, page: next }))
  if (!isOver) {
    const after = { ...position, page: next, taken: 0, high }
    // With page numbers, the offset stays on this page: more records may be added to it if it was the last one.
    return {
      positions: isNumbered ? positions : [...positions.slice(0, -1), after].slice(0, records.length),
      after,
      isOver,
    }
  }
  const after = isNumbered ? (last ?? position) : nextRound(options, position, high, next)
  return { positions: [...positions.slice(0, -1), after].slice(0, records.length), after, isOver }
}

/** Returns the next page, or undefined if there is none. */
function nextPage(
  { url, paging }: PagesOptions,
  position: PagePosition,
  { body, link, records }: PageResponse,
): PagePosition['page'] | undefined {
  switch (paging.by) {
    case 'none':
      return undefined
    case 'link':
      return nextLink(link, url)
    case 'cursor': {
      const cursor = follow(body, paging.pointer)
      if (!isMark(cursor) || cursor === '') return undefined
      return isLink(cursor) ? resolveOnServer(cursor, url) : cursor
    }
    case 'offset':
      return Number(position.page ?? paging.first) + records.length
    case 'page':
      return records.length === 0 ? undefined : Number(position.page ?? paging.first) + 1
  }
}

/**
 * Returns the first position of the next round. An offset or a cursor that still advances is continued; otherwise the
 * round starts at the first page, with the new lower bound if `since` is configured.
 */
function nextRound(
  { paging, since }: PagesOptions,
  position: PagePosition,
  high: PagePosition['high'],
  next: PagePosition['page'] | undefined,
): PagePosition {
  if (paging.by === 'offset' && since === undefined) return { ...position, page: next ?? position.page, taken: 0 }
  if (paging.by === 'cursor' && next !== undefined) return { ...position, page: next, taken: 0, high }
  return { page: null, taken: 0, since: high, high }
}

/** Returns the target of `<https://…>; rel="next"` in a Link header (RFC 8288). */
function nextLink(header: string | undefined, url: string): string | undefined {
  for (const [, target, parameters] of header?.matchAll(/<([^>]*)>([^<]*)/g) ?? []) {
    if (/;\s*rel\s*=\s*"?(?:[^";]*\s)?next[\s",;]?/i.test(`${parameters};`)) return resolveOnServer(target!, url)
  }
  return undefined
}

function isMark(value: unknown): value is Mark {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}

function isLink(page: unknown): page is string {
  return typeof page === 'string' && /^(https?:\/\/|\/)/.test(page)
}

/** Resolves a link and rejects other origins, so that credentials are sent only to the configured server. */
function resolveOnServer(link: string, url: string): string {
  const next = new URL(link, url)
  if (next.origin === new URL(url).origin) return next.href
  throw new Error(
    `a page of ${new URL(url).origin} links to ${next.origin}: links to another server are not followed, because the credentials are for the configured server only`,
  )
}

function maxOf(high: PagePosition['high'], found: unknown): PagePosition['high'] {
  if (!isMark(found)) return high
  return high === null || isHigher(found, high) ? found : high
}

/** Decimal numbers that a server writes as strings are compared as numbers: as texts, 9 would be higher than 10. */
const DECIMAL = /^0*(\d+)(?:\.(\d*))?$/

function isHigher(mark: Mark, other: Mark): boolean {
  if (typeof mark !== 'string' || typeof other !== 'string') return mark > other
  const [, whole, fraction = ''] = DECIMAL.exec(mark) ?? []
  const [, otherWhole, otherFraction = ''] = DECIMAL.exec(other) ?? []
  if (whole === undefined || otherWhole === undefined) return mark > other
  if (whole.length !== otherWhole.length) return whole.length > otherWhole.length
  return whole === otherWhole ? fraction > otherFraction : whole > otherWhole
}
