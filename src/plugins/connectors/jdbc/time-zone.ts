/** Conversion rules of one time zone, in ms. A wall time is the local time in the zone, encoded as if it were UTC. */
export type TimeZone = {
  /** Offset from UTC at this instant, in ms; positive east of Greenwich. */
  readonly offsetMs: (instantMs: number) => number
  readonly toInstantMs: (wallMs: number) => number
}

export const UTC: TimeZone = { offsetMs: () => 0, toInstantMs: (wallMs) => wallMs }

const QUARTER_MS = 15 * 60_000
const CACHED_MAX = 10_000

/** Parses a zone name or offset (`Europe/Berlin`, `UTC`, `+02:00`). Throws an `Error` if the zone is unknown. */
export function parseTimeZone(name: string): TimeZone {
  if (/^(?:UTC|GMT|Z|Etc\/UTC)$/i.test(name)) return UTC
  const offsetMs = offsetsOf(name)
  return {
    offsetMs,
    toInstantMs(wallMs) {
      const near = wallMs - offsetMs(wallMs)
      return wallMs - offsetMs(near)
    },
  }
}

/**
 * Returns a function for the offset at an instant. Offsets change only on quarter-hour boundaries, so they are cached
 * per quarter; a cached value is about 100 times cheaper than a calculation.
 */
function offsetsOf(name: string): (instantMs: number) => number {
  const format = formatOf(name)
  const known = new Map<number, number>()
  return (instantMs) => {
    const quarter = Math.floor(instantMs / QUARTER_MS)
    const cached = known.get(quarter)
    if (cached !== undefined) return cached
    const offset = parseOffsetMs(format.formatToParts(quarter * QUARTER_MS))
    if (known.size >= CACHED_MAX) known.clear()
    known.set(quarter, offset)
    return offset
  }
}

function formatOf(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' })
  } catch {
    throw new Error(`'${name}' is not a time zone: expected a name or an offset such as UTC, Europe/Berlin or +02:00`)
  }
}

function parseOffsetMs(parts: readonly Intl.DateTimeFormatPart[]): number {
  const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /^GMT(?:([+-])(\d+):?(\d+)?:?(\d+)?)?$/.exec(text) ?? []
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
}
