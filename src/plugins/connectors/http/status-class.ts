/** Which statuses of an answer are worth another try. */
export type StatusSet = (status: number) => boolean

/** `408,429,500-599` or, without an end, `500-`. Throws an `Error` that says what is wrong. */
export function parseStatuses(text: string): StatusSet {
  const ranges = text.split(',').flatMap((part) => {
    if (part.trim() === '') return []
    const [, from, dash, to] = /^\s*(\d{3})\s*(?:(-)\s*(\d{3})?)?\s*$/.exec(part) ?? []
    if (from === undefined)
      throw new Error(`'${part.trim()}' is no status or range of statuses, such as 429 or 500-599`)
    const first = Number(from)
    return [{ first, last: to === undefined ? (dash === undefined ? first : 599) : Number(to) }]
  })
  return (status) => ranges.some(({ first, last }) => status >= first && status <= last)
}

/**
 * What an answer means. `later`: the server may take it yet. `refused`: it does not take this, whenever. `wrong`: it takes
 * nothing from us as we are, whatever we send.
 */
export type StatusClass = 'taken' | 'later' | 'refused' | 'wrong'

export function classifyStatus(status: number, worthRetry: StatusSet): StatusClass {
  if (status >= 200 && status < 300) return 'taken'
  if (worthRetry(status)) return 'later'
  return status < 400 || ADVICE[status] !== undefined ? 'wrong' : 'refused'
}

const ADVICE: Readonly<Record<number, string>> = {
  401: 'it does not know us: check auth.type and the keys that belong to it',
  403: 'it knows us, but does not let us: give this client the right to do it, or check its credentials',
  407: 'the proxy does not know us: check http.proxy.user and http.proxy.password',
}

/** What to do about an answer that is `wrong`. */
export function adviceOn(status: number, location: string | undefined): string {
  const elsewhere = location === undefined ? 'elsewhere' : `to ${location.split(/[?#]/)[0]}`
  return ADVICE[status] ?? `it leads ${elsewhere}, which is not followed: write the right address in the configuration`
}
