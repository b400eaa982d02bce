import { LINE_BYTES, sizeOf } from './lines.ts'

const EVERY_MS = 20

/**
 * How many lines a file of `LineWriter`'s lines had, by the time: looked at all the time, also while a test waits for
 * something else. Where the looks come late, more counts as written in a span, never less.
 */
export class Growth {
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

  /** Lines that were written since `atMs`, by the clock of `Date`. */
  since(atMs: number): number {
    const before = this.#looks.findLast((look) => look.atMs <= atMs)?.lines ?? 0
    return this.#look() - before
  }

  #look(): number {
    const lines = Math.ceil(sizeOf(this.#file) / LINE_BYTES)
    this.#looks.push({ atMs: Date.now(), lines })
    return lines
  }
}
