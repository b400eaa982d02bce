import type { IncomingHttpHeaders } from 'node:http'

/** Nobody means longer: it is a clock that is wrong, or another unit. */
const WAIT_MS_MAX = 3_600_000

/**
 * How long a server asks to be left alone (`Retry-After`, in seconds or as a date); undefined when it does not say. A date
 * is measured by the server's own clock where the answer tells it, so that ours may be wrong.
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
