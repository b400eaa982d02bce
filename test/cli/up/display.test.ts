import type { WriteStream } from 'node:tty'
import { expect, it } from 'vitest'
import { LiveRegion } from '../../../src/cli/terminal/live-region.ts'
import { TableDisplay } from '../../../src/cli/up/display.ts'

const ROWS = 4

it('clears the output of npm and starts at the top of the terminal', () => {
  const terminal = new FakeTerminal(ROWS)
  terminal.write('> weir start\n')
  const region = new LiveRegion(terminal as unknown as WriteStream)
  new TableDisplay(region, { manifests: './m', broker: 'embedded in ./m/.weir' }).open()
  expect(terminal.visible).toEqual(['weir starts a registry and a worker, broker embedded in ./m/.weir', '', '', ''])
  expect(terminal.scrolledOut).toContain('> weir start')
})

it('prints lines above the region that it redraws', () => {
  const terminal = new FakeTerminal(ROWS)
  const region = new LiveRegion(terminal as unknown as WriteStream)
  region.draw(['a 1', 'b 1'])
  region.printAbove('a warning')
  region.draw(['a 2', 'b 2'])
  expect(terminal.visible).toEqual(['a warning', 'a 2', 'b 2', ''])
})

/** Interprets the control sequences that `LiveRegion` writes. */
class FakeTerminal {
  readonly isTTY = true
  readonly columns = 80
  readonly rows: number
  readonly scrolledOut: string[] = []
  visible: string[]
  #row = 0
  #column = 0

  constructor(rows: number) {
    this.rows = rows
    this.visible = Array.from({ length: rows }, () => '')
  }

  write(text: string): boolean {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminal control sequences
    for (const [, sequence, char] of text.matchAll(/\x1b\[([?\d]*[a-zA-Z])|([\s\S])/g)) {
      if (sequence !== undefined) this.#control(sequence)
      else if (char === '\n') this.#lineFeed()
      else if (char === '\r') this.#column = 0
      else this.#put(char!)
    }
    return true
  }

  #put(char: string): void {
    const line = this.visible[this.#row] ?? ''
    this.visible[this.#row] = line.slice(0, this.#column) + char + line.slice(this.#column + 1)
    this.#column += 1
  }

  #lineFeed(): void {
    this.#column = 0
    if (this.#row < this.rows - 1) this.#row += 1
    else {
      this.scrolledOut.push(this.visible[0]!)
      this.visible = [...this.visible.slice(1), '']
    }
  }

  #control(sequence: string): void {
    const up = /^(\d+)A$/.exec(sequence)?.[1]
    if (up !== undefined) this.#row = Math.max(0, this.#row - Number(up))
    else if (sequence === 'H') [this.#row, this.#column] = [0, 0]
    else if (sequence === 'K') this.visible[this.#row] = (this.visible[this.#row] ?? '').slice(0, this.#column)
    else if (sequence === 'J') {
      this.visible = this.visible.map((line, row) => (row <= this.#row ? line : ''))
      this.visible[this.#row] = this.visible[this.#row]!.slice(0, this.#column)
    }
  }
}
