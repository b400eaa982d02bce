import type { WriteStream } from 'node:tty'
import sliceAnsi from 'slice-ansi'

const HIDE_CURSOR = '\x1b[?25l'
const SHOW_CURSOR = '\x1b[?25h'
/** Synchronized output: the terminal shows everything between them in one frame. Other terminals ignore them. */
const BEGIN_FRAME = '\x1b[?2026h'
const END_FRAME = '\x1b[?2026l'
const CLEAR_BELOW = '\x1b[J'
const CURSOR_HOME = '\x1b[H'

/** Printed lines that are kept, to be printed again when the terminal gets another size. */
const ABOVE_MAX = 200

/** Lines at the bottom of a terminal that are redrawn in place, while other lines can be printed above them. */
export class LiveRegion {
  readonly #terminal: WriteStream
  #above: readonly string[] = []
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

  /** Calls `redraw` when the terminal has another size. Its content is cleared before, because each terminal moves it in its own way. */
  onResize(redraw: () => void): void {
    this.#terminal.on('resize', () => {
      this.#isDrawn = false
      this.#frame = []
      this.#terminal.write(`${CURSOR_HOME}${CLEAR_BELOW}`)
      this.#write(this.#above)
      redraw()
    })
  }

  /** What does not fit the terminal is cut off. */
  draw(lines: readonly string[]): void {
    const frame = lines.slice(0, this.height - 1).map((line) => sliceAnsi(line, 0, this.width))
    if (this.#isDrawn && frame.length === this.#frame.length && frame.every((line, at) => line === this.#frame[at]))
      return
    this.#write([], frame)
  }

  printAbove(line: string): void {
    this.#above = [...this.#above, line].slice(-ABOVE_MAX)
    this.#write([line])
  }

  /** Shows the cursor again and leaves the last frame on the terminal. */
  close(): void {
    this.#terminal.write(SHOW_CURSOR)
  }

  #write(printed: readonly string[], frame = this.#frame): void {
    const up = this.#isDrawn && this.#frame.length > 0 ? `\x1b[${this.#frame.length}A\r` : ''
    const text = [...printed, ...frame].map((line) => `${line}\n`).join('')
    this.#terminal.write(`${BEGIN_FRAME}${HIDE_CURSOR}${up}${CLEAR_BELOW}${text}${END_FRAME}`)
    this.#frame = frame
    this.#isDrawn = true
  }
}
