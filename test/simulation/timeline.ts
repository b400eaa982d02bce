export type TimelineEntry = { readonly atMs: number; readonly who: string; readonly what: string }

/** What happened in a history. */
export type Timeline = {
  readonly entries: readonly TimelineEntry[]
  /** The same for the same seed, and for hardly any other history. */
  readonly digest: string
}

/** More would be the history of an endless loop. */
const ENTRIES_MAX = 100_000

export class TimelineRecorder implements Timeline {
  readonly entries: TimelineEntry[] = []
  #hash = 0x81_1c_9d_c5

  get digest(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0')
  }

  add(atMs: number, who: string, text: string): void {
    if (this.entries.length >= ENTRIES_MAX) return
    // The calls that led to an error depend on who runs the history.
    const what = text.includes('\n') ? text.replaceAll(/\n +at .*/g, '') : text
    this.entries.push({ atMs, who, what })
    for (const character of `${atMs.toFixed(3)} ${who} ${what}`)
      this.#hash = Math.imul(this.#hash ^ character.charCodeAt(0), 0x01_00_01_93)
  }
}

/** A line for each entry: the time in seconds, the process, and what it does. */
export function printTimeline({ entries }: Pick<Timeline, 'entries'>): string {
  const width = Math.max(0, ...entries.map(({ who }) => who.length))
  return entries
    .map(({ atMs, who, what }) => `${(atMs / 1_000).toFixed(3).padStart(10)}  ${who.padEnd(width)}  ${what}`)
    .join('\n')
}
