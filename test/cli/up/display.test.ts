import type { WriteStream } from 'node:tty'
import { expect, it } from 'vitest'
import type { Stack } from '../../../src/cli/start-stack.ts'
import { LiveRegion } from '../../../src/cli/terminal/live-region.ts'
import { JsonLinesDisplay } from '../../../src/cli/up/json-lines-display.ts'
import { TableDisplay } from '../../../src/cli/up/table-display.ts'

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

it('writes a line with the same keys for each change, for programs to read', async () => {
  const lines: string[] = []
  const row = {
    ...{
      kind: 'Connector',
      namespace: 'default',
      name: 'resource',
      about: 'Datagen',
      ready: 'False',
      reason: 'TaskFailed',
    },
    ...{ message: 'task 0 failed', isStalled: true, tasks: '0/1', since: '' },
    resource: { kind: 'Connector', spec: { name: 'orders' }, metadata: { name: 'resource' }, status: {} },
  }
  const values = [{ labels: { connector: 'orders' }, value: 7 }]
  const name = 'kafka_connect_source_task_metrics_source_record_write_total'
  const display = new JsonLinesDisplay((line) => lines.push(line))
  display.start({
    operator: { rows: () => [row], onChange: () => () => {} },
    metrics: { getMetricsAsJSON: async () => [{ name, values }] },
  } as unknown as Stack)
  row.message = 'task 0 failed again'
  await display.finish()
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([
    ['time', 'kind', 'namespace', 'name', 'about', 'ready', 'reason', 'message', 'stuck', 'tasks'],
    ['time', 'kind', 'namespace', 'name', 'about', 'ready', 'reason', 'message', 'stuck', 'tasks', 'records'],
  ])
  expect(JSON.parse(lines[1]!)).toMatchObject({ name: 'resource', message: 'task 0 failed again', records: 7 })
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

  on(): this {
    return this
  }

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
