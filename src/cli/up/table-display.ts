import type { Stack } from '../start-stack.ts'
import type { LiveRegion } from '../terminal/live-region.ts'
import { bold, dim } from '../terminal/style.ts'
import { type Display, REDRAW_MS, type StackDescription } from './display.ts'
import { renderFrame } from './frame.ts'
import { commandName, suggestCommands } from './suggested-commands.ts'
import { ThroughputMeter } from './throughput.ts'

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
