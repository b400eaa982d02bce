/** The rules of one time zone. Times are in ms; a wall time is that of a clock there, counted as if it were UTC. */
export type TimeZone = {
  /** What a clock there is ahead of UTC at this instant. */
  readonly offsetMs: (instantMs: number) => number
  readonly toInstantMs: (wallMs: number) => number
}

export const UTC: TimeZone = { offsetMs: () => 0, toInstantMs: (wallMs) => wallMs }

const QUARTER_MS = 15 * 60_000
const CACHED_MAX = 10_000

/** A zone by its name (`Europe/Berlin`, `UTC`, `+02:00`). Throws a sentence when nobody knows it. */
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

/** Zones change their offsets at quarters of an hour; what was looked up costs a hundred times less. */
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
    throw new Error(`'${name}' is no time zone: write one such as UTC, Europe/Berlin or +02:00`)
  }
}

function parseOffsetMs(parts: readonly Intl.DateTimeFormatPart[]): number {
  const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /^GMT(?:([+-])(\d+):?(\d+)?:?(\d+)?)?$/.exec(text) ?? []
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -ms : ms
}
