import { LINE_BYTES, sizeOf } from './numbered-lines.ts'

const EVERY_MS = 20

/**
 * Samples the number of lines in a file written by `LineWriter`, also while a test waits for something else. If samples
 * are late, the number of lines since a time is overestimated, never underestimated.
 */
export class LineCountSampler {
  readonly #file: string
  readonly #looks: { readonly atMs: number; readonly lines: number }[] = []
  readonly #timer: NodeJS.Timeout

  constructor(file: string) {
    this.#file = file
    this.#timer = setInterval(() => this.#look(), EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Lines written since `atMs`, a time of `Date.now()`. */
  linesSince(atMs: number): number {
    const before = this.#looks.findLast((look) => look.atMs <= atMs)?.lines ?? 0
    return this.#look() - before
  }

  #look(): number {
    const lines = Math.ceil(sizeOf(this.#file) / LINE_BYTES)
    this.#looks.push({ atMs: Date.now(), lines })
    return lines
  }
}
