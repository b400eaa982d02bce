/** The statuses for which requests are retried by default: timeouts, rate limits and errors of the server. */
export const RETRIED_STATUSES = '408,425,429,500-'

/** Whether a response status is in a set of statuses. */
export type StatusSet = (status: number) => boolean

/** Parses `408,429,500-599`, or `500-` for 500 to 599. Throws an `Error` for anything else. */
export function parseStatuses(text: string): StatusSet {
  const ranges = text.split(',').flatMap((part) => {
    if (part.trim() === '') return []
    const [, from, dash, to] = /^\s*(\d{3})\s*(?:(-)\s*(\d{3})?)?\s*$/.exec(part) ?? []
    if (from === undefined)
      throw new Error(`'${part.trim()}' is not a status or a range of statuses, such as 429 or 500-599`)
    const first = Number(from)
    return [{ first, last: to === undefined ? (dash === undefined ? first : 599) : Number(to) }]
  })
  return (status) => ranges.some(({ first, last }) => status >= first && status <= last)
}

/**
 * The class of a response status. `retriable`: the request may succeed later. `rejected`: the server does not accept this
 * content. `fatal`: the server does not accept any request of this client.
 */
export type StatusClass = 'success' | 'retriable' | 'rejected' | 'fatal'

export function classifyStatus(status: number, isRetriable: StatusSet): StatusClass {
  if (status >= 200 && status < 300) return 'success'
  if (isRetriable(status)) return 'retriable'
  return status < 400 || REMEDIES[status] !== undefined ? 'fatal' : 'rejected'
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'authentication failed: check auth.type and its keys',
  403: 'permission denied: grant this client the permission, or check its credentials',
  407: 'proxy authentication failed: check http.proxy.user and http.proxy.password',
}

/** The remedy for a status of class `fatal`. */
export function adviceOn(status: number, location: string | undefined): string {
  const target = location === undefined ? 'to another URL' : `to ${location.split(/[?#]/)[0]}`
  return REMEDIES[status] ?? `it is a redirect ${target}; redirects are not followed: configure the target URL`
}
