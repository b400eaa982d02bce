import type { ResourceRow } from '../../operator/main.ts'
import type { Stack } from '../stack.ts'
import type { LiveRegion } from '../terminal/live-region.ts'
import { bold, dim } from '../terminal/style.ts'
import { renderResourceTable } from './resource-table.ts'
import { suggestCommands } from './suggested-commands.ts'
import { type Throughput, ThroughputMeter } from './throughput.ts'

/** Shows the state of a stack to the person or program that started it. */
export interface Display {
  /** Called before the stack starts, which takes seconds. */
  open(): void
  start(stack: Stack): void
  /** Shows the last state and leaves it there. */
  finish(): Promise<void>
}

export type StackDescription = { readonly manifests: string; readonly log: string }

const REDRAW_MS = 250

/** The live table of a terminal. */
export class TableDisplay implements Display {
  readonly #screen: LiveRegion
  readonly #about: StackDescription
  #stack: Stack | undefined
  #meter: ThroughputMeter | undefined
  #timer: NodeJS.Timeout | undefined
  #drawing: Promise<void> = Promise.resolve()

  constructor(screen: LiveRegion, about: StackDescription) {
    this.#screen = screen
    this.#about = about
  }

  /** What npm or a shell printed before goes out of view, so that the table is the first thing to see. */
  open(): void {
    this.#screen.clearTerminal()
    this.#screen.draw([`${bold('weir')} starts a registry and a worker, ${dim(`log ${this.#about.log}`)}`])
  }

  start(stack: Stack): void {
    this.#stack = stack
    this.#meter = new ThroughputMeter(stack.metrics)
    this.#timer = setInterval(() => this.#redraw(), REDRAW_MS)
    this.#redraw()
  }

  async finish(): Promise<void> {
    clearInterval(this.#timer)
    this.#redraw()
    await this.#drawing
    this.#screen.close()
  }

  #redraw(): void {
    this.#drawing = this.#drawing.then(() => this.#draw())
  }

  async #draw(): Promise<void> {
    if (this.#stack === undefined || this.#meter === undefined) return
    const { width, height } = this.#screen
    const rows = this.#stack.operator.rows()
    const nowMs = Date.now()
    const throughput = await this.#meter.read(nowMs)
    const head = headOf(this.#about, this.#stack)
    const foot = footOf(rows, this.#stack)
    const room = height - head.length - foot.length - 1
    const table =
      rows.length === 0
        ? [
            dim(
              `no manifests in ${this.#about.manifests} yet: put a .yaml file there, it is read as soon as it is saved`,
            ),
          ]
        : renderResourceTable({ rows, throughput, nowMs, width, height: room })
    // A terminal too low for all of it shows the table.
    this.#screen.draw(room >= table.length ? [...head, ...table, ...foot] : table.slice(0, height - 1))
  }
}

function headOf({ manifests, log }: StackDescription, { registryUrl, workerUrl }: Stack): readonly string[] {
  return [
    `${bold('weir')} keeps ${bold(manifests)} running   ${dim('Ctrl-C stops it; it goes on at the next start')}`,
    dim(`log ${log}   registry ${registryUrl}   worker ${workerUrl}`),
    '',
  ]
}

function footOf(rows: readonly ResourceRow[], stack: Stack): readonly string[] {
  if (rows.length === 0) return []
  return ['', ...suggestCommands(rows, stack).map((hint, at) => `${dim(at === 0 ? 'try' : '   ')} ${hint}`)]
}

/** One JSON line on standard output for each change of a resource. */
export class JsonLinesDisplay implements Display {
  readonly #write: (line: string) => void
  readonly #shown = new Map<string, string>()
  #stack: Stack | undefined
  #meter: ThroughputMeter | undefined
  #throughput: ReadonlyMap<string, Throughput> = new Map()
  #unsubscribe: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(write: (line: string) => void) {
    this.#write = write
  }

  open(): void {}

  start(stack: Stack): void {
    this.#stack = stack
    this.#meter = new ThroughputMeter(stack.metrics)
    this.#unsubscribe = stack.operator.onChange(() => this.#show())
    // What could not be read does not change a resource: it is looked for.
    this.#timer = setInterval(() => void this.#measure(), REDRAW_MS)
    this.#show()
  }

  async finish(): Promise<void> {
    clearInterval(this.#timer)
    this.#unsubscribe?.()
    await this.#measure()
  }

  async #measure(): Promise<void> {
    this.#throughput = (await this.#meter?.read(Date.now())) ?? this.#throughput
    this.#show()
  }

  #show(): void {
    const rows = this.#stack?.operator.rows() ?? []
    const present = new Set<string>()
    for (const { resource, since: _, ...row } of rows) {
      const key = [row.kind, row.namespace, row.name].join('\t')
      present.add(key)
      const text = JSON.stringify(row)
      if (this.#shown.get(key) === text) continue
      this.#shown.set(key, text)
      const records = resource?.kind === 'Connector' ? this.#throughput.get(row.name)?.records : undefined
      this.#write(
        JSON.stringify({ time: new Date().toISOString(), ...row, ...(records === undefined ? {} : { records }) }),
      )
    }
    for (const key of this.#shown.keys()) {
      if (present.has(key)) continue
      this.#shown.delete(key)
      const [kind, namespace, name] = key.split('\t')
      this.#write(JSON.stringify({ time: new Date().toISOString(), kind, namespace, name, gone: true }))
    }
  }
}
