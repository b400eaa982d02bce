const INTERVAL_MS = 1_000
const LINES_MAX = 100
const LINE_LENGTH_MAX = 2_000

/** Forwards the output of plugin code line by line: at most 100 lines per second, and the number of dropped lines. */
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
    // An unterminated line is limited in length, too.
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
