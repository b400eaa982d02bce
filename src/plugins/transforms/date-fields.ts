import { daysOf } from './java-calendar.ts'

export const MONTHS: readonly string[] = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
export const WEEKDAYS: readonly string[] = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
]

export function shortened(name: string): string {
  return name.slice(0, 3)
}

type Field = { readonly letter: string; readonly count: number }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
/** A year of two digits is one of the 100 years that begin so many years before now. */
const CENTURY_BEFORE = 80
const ERAS = ['BC', 'AD']
const HALVES = ['AM', 'PM']

/** Collects the fields of a date while its text is parsed. Missing fields default to 1 January 1970, 00:00 UTC. */
export class DateFields {
  readonly #values = new Map<string, number>()
  #offsetMs = 0
  /** Whether the year has two digits, so that the rest of the date may decide about its century. */
  #isAmbiguous = false

  /** Returns the position after the field, or -1 if the field does not match. */
  read(field: Field, text: string, start: number, isAdjacent: boolean): number {
    const at = start + (/^[ \t]*/.exec(text.slice(start))?.[0].length ?? 0)
    const { letter, count } = field
    if (letter === 'M' || letter === 'L') {
      return count < 3
        ? this.#number({ ...field, letter: 'M' }, text, at, isAdjacent)
        : this.#name('M', MONTHS, text, at)
    }
    if (letter === 'E') return this.#name('E', WEEKDAYS, text, at)
    if (letter === 'a') return this.#name('a', HALVES, text, at)
    if (letter === 'G') return this.#name('G', ERAS, text, at)
    if ('zZX'.includes(letter)) return this.#zone(field, text, at)
    return this.#number(field, text, at, isAdjacent)
  }

  toMs(): number {
    const of = (letter: string, fallback: number) => this.#values.get(letter) ?? fallback
    const yearOfEra = of('y', 1970)
    const year = this.#values.get('G') === 0 ? 1 - yearOfEra : yearOfEra
    const day = this.#values.has('D') ? of('D', 1) : of('d', 1)
    const month = this.#values.has('D') ? 0 : of('M', 0)
    const time = this.#hours() * HOUR_MS + of('m', 0) * MINUTE_MS + of('s', 0) * 1000 + of('S', 0)
    const inYear = (found: number) =>
      daysOf({ year: found, month, day }, this.#values.has('D')) * DAY_MS + time - this.#offsetMs
    const ms = inYear(year)
    return this.#isAmbiguous && ms < centuryStart().getTime() ? inYear(year + 100) : ms
  }

  #hours(): number {
    const ofDay = this.#values.get('H')
    if (ofDay !== undefined) return ofDay
    const ofDayFromOne = this.#values.get('k')
    if (ofDayFromOne !== undefined) return ofDayFromOne === 24 ? 0 : ofDayFromOne
    const ofHalf = this.#values.get('K') ?? this.#values.get('h') ?? 0
    const isFromOne = !this.#values.has('K')
    return (isFromOne && ofHalf === 12 ? 0 : ofHalf) + (this.#values.get('a') ?? 0) * 12
  }

  #number({ letter, count }: Field, text: string, at: number, isAdjacent: boolean): number {
    const [found] = (isAdjacent ? /^\d+/.exec(text.slice(at, at + count)) : /^-?\d+/.exec(text.slice(at))) ?? []
    if (found === undefined) return -1
    const value = Number(found)
    if (letter === 'y') this.#setYear(value, count <= 2 && /^\d\d$/.test(found))
    else this.#values.set(letter, letter === 'M' ? value - 1 : value)
    return at + found.length
  }

  #setYear(value: number, isShort: boolean): void {
    this.#isAmbiguous = isShort
    this.#values.set('y', isShort ? inThisCentury(value) : value)
  }

  /** Matches a name or its first three letters, ignoring case. */
  #name(letter: string, names: readonly string[], text: string, at: number): number {
    const rest = text.slice(at).toLowerCase()
    for (const [index, name] of names.entries()) {
      const spelled = [name, shortened(name)].find((known) => rest.startsWith(known.toLowerCase()))
      if (spelled === undefined) continue
      this.#values.set(letter, index)
      return at + spelled.length
    }
    return -1
  }

  #zone({ letter, count }: Field, text: string, at: number): number {
    const pattern = letter === 'X' ? ISO_ZONES[count - 1] : NAMED_ZONE
    const { 0: found, groups: { sign, hours, minutes = '0' } = {} } = pattern?.exec(text.slice(at)) ?? {}
    if (found === undefined || Number(hours ?? 0) > 23 || Number(minutes) > 59) return -1
    if (sign !== undefined) {
      this.#offsetMs = (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS)
    }
    return at + found.length
  }
}

/** Offsets `+01`, `+0100` and `+01:00`, by the number of `X`. */
const ISO_ZONES = [
  /^(?:Z|(?<sign>[-+])(?<hours>\d{2}))/,
  /^(?:Z|(?<sign>[-+])(?<hours>\d{2})(?<minutes>\d{2}))/,
  /^(?:Z|(?<sign>[-+])(?<hours>\d{2}):(?<minutes>\d{2}))/,
]
/** `+0100`, `GMT+1:00`, or a name of UTC. */
const NAMED_ZONE =
  /^(?:(?<sign>[-+])(?<hours>\d{2})(?<minutes>\d{2})|GMT(?<sign>[-+])(?<hours>\d{1,2}):(?<minutes>\d{2})|GMT(?![-+])|UTC|Coordinated Universal Time|Greenwich Mean Time)/i

function centuryStart(): Date {
  const date = new Date()
  date.setUTCFullYear(date.getUTCFullYear() - CENTURY_BEFORE)
  return date
}

/** A two-digit year is between 80 years ago and 20 years ahead. */
function inThisCentury(digits: number): number {
  const from = centuryStart().getUTCFullYear()
  const year = Math.floor(from / 100) * 100 + digits
  return year < from ? year + 100 : year
}
