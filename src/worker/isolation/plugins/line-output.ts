const INTERVAL_MS = 1_000
const LINES_MAX = 100
const LINE_LENGTH_MAX = 2_000

/** Passes on what plugin code prints, line by line: at most 100 lines a second, and how many were dropped. */
export class LineOutput {
  readonly #pass: (lines: readonly string[], dropped: number) => void
  #rest = ''
  #lines: string[] = []
  #dropped = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pass: (lines: readonly string[], dropped: number) => void) {
    this.#pass = pass
  }

  write(text: string): void {
    const lines = (this.#rest + text).split('\n')
    // A line without an end is of bounded length, too.
    this.#rest = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX)
    for (const line of lines) {
      if (this.#lines.length < LINES_MAX) this.#lines.push(line.slice(0, LINE_LENGTH_MAX))
      else this.#dropped += 1
    }
    this.#timer ??= setTimeout(() => this.#flush(), INTERVAL_MS).unref()
  }

  #flush(): void {
    this.#timer = undefined
    if (this.#lines.length > 0) this.#pass(this.#lines, this.#dropped)
    this.#lines = []
    this.#dropped = 0
  }
}
