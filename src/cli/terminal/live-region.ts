import type { WriteStream } from 'node:tty'

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'
/** The terminal shows what is between them at once; one that does not know them ignores them. */
const BEGIN_FRAME = '\x1b[?2026h'
const END_FRAME = '\x1b[?2026l'
const CLEAR_TO_LINE_END = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'
const CURSOR_HOME = '\x1b[H'

/** A part at the bottom of the terminal that is drawn again in place; what is printed meanwhile scrolls up above it. */
export class LiveRegion {
  readonly #terminal: WriteStream
  #frame: readonly string[] = []
  #drawn = false

  constructor(terminal: WriteStream) {
    this.#terminal = terminal
  }

  get width(): number {
    return this.#terminal.columns || 80
  }

  get height(): number {
    return this.#terminal.rows || 24
  }

  /** Scrolls everything that is on the terminal out of view, where it can still be scrolled to. */
  clearTerminal(): void {
    this.#terminal.write(`${'\n'.repeat(this.height - 1)}${CURSOR_HOME}${CLEAR_BELOW}`)
  }

  /** Lines have to be no wider than the terminal, and no more than it has. */
  draw(lines: readonly string[]): void {
    if (this.#drawn && lines.length === this.#frame.length && lines.every((line, at) => line === this.#frame[at]))
      return
    this.#write([], lines)
  }

  /** Prints a line above the drawn part. */
  printAbove(line: string): void {
    this.#write([line], this.#frame)
  }

  /** Leaves what was drawn last where it is. */
  close(): void {
    this.#terminal.write(SHOW_CURSOR)
  }

  #write(printed: readonly string[], frame: readonly string[]): void {
    const up = this.#drawn && this.#frame.length > 0 ? `\x1b[${this.#frame.length}A\r` : ''
    const text = [...printed, ...frame].map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')
    this.#terminal.write(`${BEGIN_FRAME}${HIDE_CURSOR}${up}${text}${CLEAR_BELOW}${END_FRAME}`)
    this.#frame = frame
    this.#drawn = true
  }
}
