import type { WriteStream } from 'node:tty'

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'
/** Synchronized output: the terminal shows everything between them in one frame. Other terminals ignore them. */
const BEGIN_FRAME = '\x1b[?2026h'
const END_FRAME = '\x1b[?2026l'
const CLEAR_TO_LINE_END = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'
const CURSOR_HOME = '\x1b[H'

/** Lines at the bottom of a terminal that are redrawn in place, while other lines can be printed above them. */
export class LiveRegion {
  readonly #terminal: WriteStream
  #frame: readonly string[] = []
  #isDrawn = false

  constructor(terminal: WriteStream) {
    this.#terminal = terminal
  }

  get width(): number {
    return this.#terminal.columns || 80
  }

  get height(): number {
    return this.#terminal.rows || 24
  }

  /** Moves the present content of the terminal into its scrollback. */
  clearTerminal(): void {
    this.#terminal.write(`${'\n'.repeat(this.height - 1)}${CURSOR_HOME}${CLEAR_BELOW}`)
  }

  /** Lines must fit the terminal's width and height. */
  draw(lines: readonly string[]): void {
    if (this.#isDrawn && lines.length === this.#frame.length && lines.every((line, at) => line === this.#frame[at]))
      return
    this.#write([], lines)
  }

  printAbove(line: string): void {
    this.#write([line], this.#frame)
  }

  /** Shows the cursor again and leaves the last frame on the terminal. */
  close(): void {
    this.#terminal.write(SHOW_CURSOR)
  }

  #write(printed: readonly string[], frame: readonly string[]): void {
    const up = this.#isDrawn && this.#frame.length > 0 ? `\x1b[${this.#frame.length}A\r` : ''
    const text = [...printed, ...frame].map((line) => `${line}${CLEAR_TO_LINE_END}\n`).join('')
    this.#terminal.write(`${BEGIN_FRAME}${HIDE_CURSOR}${up}${text}${CLEAR_BELOW}${END_FRAME}`)
    this.#frame = frame
    this.#isDrawn = true
  }
}
