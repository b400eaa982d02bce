import type { ResourceRow } from '../../operator/main.ts'
import type { Stack } from '../start-stack.ts'
import type { LiveRegion } from '../terminal/live-region.ts'
import { bold, dim } from '../terminal/style.ts'
import { renderFrame } from './frame.ts'
import { throughputOf } from './resource-table.ts'
import { commandName, suggestCommands } from './suggested-commands.ts'
import { type Throughput, ThroughputMeter } from './throughput.ts'

/** Shows the state of a stack to the person or program that started it. */
export interface Display {
  /** Called before the stack starts, which takes seconds. */
  open(): void
  start(stack: Stack): void
  /** Shows the final state. */
  finish(): Promise<void>
}

export type StackDescription = { readonly manifests: string; readonly broker: string }

const REDRAW_MS = 250

/** A live table on a terminal. */
export class TableDisplay implements Display {
  readonly #region: LiveRegion
  readonly #description: StackDescription
  #stack: Stack | undefined
  #meter: ThroughputMeter | undefined
  #timer: NodeJS.Timeout | undefined
  #drawing: Promise<void> = Promise.resolve()

  constructor(region: LiveRegion, description: StackDescription) {
    this.#region = region
    this.#description = description
  }

  /** Clears the terminal first, so that the table is not below the output of npm. */
  open(): void {
    this.#region.clearTerminal()
    this.#region.draw([`${bold('weir')} starts a registry and a worker, ${dim(`broker ${this.#description.broker}`)}`])
  }

  start(stack: Stack): void {
    this.#stack = stack
    this.#meter = new ThroughputMeter(stack.metrics)
    this.#timer = setInterval(() => this.#redraw(), REDRAW_MS)
    this.#region.onResize(() => this.#redraw())
    this.#redraw()
  }

  async finish(): Promise<void> {
    clearInterval(this.#timer)
    this.#redraw()
    await this.#drawing
    this.#region.close()
  }

  #redraw(): void {
    this.#drawing = this.#drawing.then(() => this.#draw())
  }

  async #draw(): Promise<void> {
    if (this.#stack === undefined || this.#meter === undefined) return
    const { width, height } = this.#region
    const { operator, registryUrl, workerUrl } = this.#stack
    const rows = operator.rows()
    const nowMs = Date.now()
    const throughput = await this.#meter.read(nowMs)
    const suggestions = rows.length === 0 ? [] : suggestCommands(rows, commandName())
    const { consoleUrl } = operator
    const addresses = { ...this.#description, registryUrl, workerUrl, consoleUrl }
    // The cursor stands in the last line.
    this.#region.draw(renderFrame({ ...addresses, rows, throughput, nowMs, width, height: height - 1, suggestions }))
  }
}

/** Writes one JSON line for each change of a resource. */
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
    // A manifest that becomes unreadable causes no change event, so all rows are compared regularly.
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
    for (const row of rows) {
      const key = [row.kind, row.namespace, row.name].join('\t')
      present.add(key)
      const text = JSON.stringify(changeOf(row))
      if (this.#shown.get(key) === text) continue
      this.#shown.set(key, text)
      const records = throughputOf(row, this.#throughput)?.records
      this.#write(JSON.stringify({ time: new Date().toISOString(), ...changeOf(row), records }))
    }
    for (const key of this.#shown.keys()) {
      if (present.has(key)) continue
      this.#shown.delete(key)
      const [kind, namespace, name] = key.split('\t')
      this.#write(JSON.stringify({ time: new Date().toISOString(), kind, namespace, name, gone: true }))
    }
  }
}

/** The fields of a line. They are part of the interface of `weir up`, whatever the operator calls them. */
function changeOf({ kind, namespace, name, about, ready, reason, message, isStalled, tasks }: ResourceRow) {
  return { kind, namespace, name, about, ready, reason, message, stuck: isStalled, tasks }
}
