import type { IncomingHttpHeaders } from 'node:http'

/** Upper limit. Longer delays indicate a wrong clock or another unit. */
const WAIT_MS_MAX = 3_600_000

/**
 * Returns the delay that the server requests in `Retry-After`, as seconds or a date, in ms; undefined if it is absent.
 * A date is compared with the response's `Date` header if present, so that the local clock does not matter.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | undefined {
  const written = headers['retry-after']?.trim()
  if (written === undefined || written === '') return undefined
  const seconds = /^\d+(?:\.\d+)?$/.test(written) ? Number(written) : Number.NaN
  if (!Number.isNaN(seconds)) return Math.min(seconds * 1000, WAIT_MS_MAX)
  const dateMs = Date.parse(written)
  if (Number.isNaN(dateMs)) return undefined
  const serverMs = Date.parse(headers.date ?? '')
  return Math.min(Math.max(0, dateMs - (Number.isNaN(serverMs) ? nowMs : serverMs)), WAIT_MS_MAX)
}
