import type { ResourceRow } from '../../operator/main.ts'
import type { Stack } from '../start-stack.ts'
import { type Display, REDRAW_MS } from './display.ts'
import { type Throughput, ThroughputMeter, throughputOfRow } from './throughput.ts'

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
      const records = throughputOfRow(row, this.#throughput)?.records
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
