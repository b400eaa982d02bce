import type { Position } from '../../../sdk/index.ts'
import { follow } from './pointer.ts'

/** How one page leads to the next. */
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
 * Where a source is: on which page of a round, and how much of that page it has. A round asks for all pages; those that
 * begin later ask for what came since.
 */
export type PagePosition = {
  /** The page's address, cursor or number; null: the first one. */
  readonly page: string | number | null
  /** Records of that page that are written. */
  readonly taken: number
  /** What this round asked for, and the highest of what it has seen: the next one asks for that. */
  readonly since: string | number | null
  readonly high: string | number | null
}

/** Throws an `Error` about an offset that no source has written. */
export function parsePagePosition(offset: Position | undefined): PagePosition {
  const { page = null, taken = 0, since = null, high = null } = offset ?? {}
  const isMark = (value: unknown) => value === null || typeof value === 'string' || typeof value === 'number'
  if (isMark(page) && isMark(since) && isMark(high) && Number.isSafeInteger(taken) && (taken as number) >= 0) {
    return { page, taken, since, high } as PagePosition
  }
  throw new Error(`an offset is {page, taken, since, high}, and 'taken' a whole number, not ${JSON.stringify(offset)}`)
}

/** The address that gives this page. */
export function pageUrl({ url, paging, since }: PagesOptions, place: PagePosition): string {
  const isAddress = paging.by === 'link' || (paging.by === 'cursor' && isLink(place.page))
  if (isAddress && place.page !== null) return String(place.page)
  const address = new URL(url)
  const mark = place.since ?? since?.initial ?? ''
  if (since !== undefined && mark !== '') address.searchParams.set(since.parameter, String(mark))
  if (paging.by === 'cursor' && place.page !== null) address.searchParams.set(paging.parameter, String(place.page))
  if (paging.by === 'offset' || paging.by === 'page') {
    address.searchParams.set(paging.parameter, String(place.page ?? paging.first))
  }
  return address.href
}

/** What came with a page, as far as the way on is concerned. */
export type PageResponse = {
  readonly body: unknown
  readonly link: string | undefined
  readonly records: readonly unknown[]
}

/**
 * Where each record of a page leaves its source, and where the page does. `last` is where the last record before did. `isOver`:
 * nothing is behind this page now. Throws an `Error` when a page leads to another server.
 */
export function advancePage(
  options: PagesOptions,
  place: PagePosition,
  last: PagePosition | undefined,
  answer: PageResponse,
) {
  const { records } = answer
  const isNumbered = options.paging.by === 'page' && options.since === undefined
  let { high } = place
  const places = records.map((record, index): PagePosition => {
    high = higher(high, options.since && follow(record, options.since.pointer))
    return { ...place, taken: index + 1, high }
  })
  const next = nextPage(options, place, answer)
  const isOver = next === undefined || next === place.page || (records.length === 0 && options.paging.by !== 'link')
  if (!isOver) {
    const after = { ...place, page: next, taken: 0, high }
    // More may come onto a page that was the last one.
    return { places: isNumbered ? places : [...places.slice(0, -1), after].slice(0, records.length), after, isOver }
  }
  const after = isNumbered ? (last ?? place) : nextRound(options, place, high, next)
  return { places: [...places.slice(0, -1), after].slice(0, records.length), after, isOver }
}

/** Undefined: there is none. */
function nextPage(
  { url, paging }: PagesOptions,
  place: PagePosition,
  { body, link, records }: PageResponse,
): PagePosition['page'] | undefined {
  switch (paging.by) {
    case 'none':
      return undefined
    case 'link':
      return linked(link, url)
    case 'cursor': {
      const cursor = follow(body, paging.pointer)
      if (typeof cursor === 'number') return cursor
      if (typeof cursor !== 'string' || cursor === '') return undefined
      return isLink(cursor) ? sameServer(cursor, url) : cursor
    }
    case 'offset':
      return Number(place.page ?? paging.first) + records.length
    case 'page':
      return records.length === 0 ? undefined : Number(place.page ?? paging.first) + 1
  }
}

/** A list that is counted, or whose cursor goes on, goes on; others begin anew, with what came since where that can be asked for. */
function nextRound(
  { paging, since }: PagesOptions,
  place: PagePosition,
  high: PagePosition['high'],
  next: PagePosition['page'] | undefined,
): PagePosition {
  if (paging.by === 'offset' && since === undefined) return { ...place, page: next ?? place.page, taken: 0 }
  if (paging.by === 'cursor' && next !== undefined) return { ...place, page: next, taken: 0, high }
  return { page: null, taken: 0, since: high, high }
}

/** `<https://…>; rel="next"` of a Link header (RFC 8288). */
function linked(header: string | undefined, url: string): string | undefined {
  for (const [, target, parameters] of header?.matchAll(/<([^>]*)>([^<]*)/g) ?? []) {
    if (/;\s*rel\s*=\s*"?(?:[^";]*\s)?next[\s",;]?/i.test(`${parameters};`)) return sameServer(target!, url)
  }
  return undefined
}

function isLink(page: unknown): boolean {
  return typeof page === 'string' && /^(https?:\/\/|\/)/.test(page)
}

/** Credentials go to the server they are meant for, wherever a page leads. */
function sameServer(link: string, url: string): string {
  const next = new URL(link, url)
  if (next.origin === new URL(url).origin) return next.href
  throw new Error(`a page of ${new URL(url).origin} leads to ${next.origin}, where these credentials don't belong`)
}

function higher(high: PagePosition['high'], found: unknown): PagePosition['high'] {
  if (typeof found !== 'string' && typeof found !== 'number') return high
  return high === null || found > high ? found : high
}
