import { currentProcess } from '../../current-process.ts'
import type { SimulatedProcess } from '../../simulated-process.ts'
import type { Simulation } from '../../simulation.ts'
import { Violation } from '../../world.ts'

/** One assignment of a task to a process, from its start to its end. A source that fails and is started again by that process is the same run. */
export type TaskRun = {
  readonly connector: string
  readonly task: number
  readonly process: SimulatedProcess
  isOver: boolean
  /** Set when another run of the task has begun: when that was, and how long the process had been frozen until then. */
  superseded: { readonly atMs: number; readonly pausedMs: number } | undefined
}

/** Offsets that a user has requested. */
export type Alteration = {
  readonly connector: string
  readonly partition: number
  /** The last row, or the next offset. */
  readonly position: number
}

/** A row is added to each partition of a table in this time. */
const ROW_MS = 700
/** A task process that its worker does not reach ends after 10 s, and checks it every two seconds. */
const ZOMBIE_MS_MAX = 12_500

/**
 * What the connectors of the simulated workers read and write: tables that grow, and a ledger of delivered records. It also notes which
 * task runs where.
 */
export class ExternalSystem {
  readonly alterations: Alteration[] = []
  readonly #runs: TaskRun[] = []
  /** By the signal of the task. */
  readonly #ofTask = new WeakMap<AbortSignal, TaskRun>()
  readonly #simulation: Simulation
  /** Offsets in the order of their delivery, by sink and topic partition. */
  readonly #ledgers = new Map<string, number[]>()
  /** After this time the tables do not grow. */
  #endMs = Number.POSITIVE_INFINITY

  constructor(simulation: Simulation) {
    this.#simulation = simulation
  }

  /** The number of rows of each partition of a table. */
  get rowCount(): number {
    return Math.floor(Math.min(this.#simulation.nowMs, this.#endMs) / ROW_MS)
  }

  stopGrowing(): void {
    this.#endMs = Math.min(this.#endMs, this.#simulation.nowMs)
  }

  /** A run supersedes those of other assignments. What a process starts again that has lost its assignment supersedes nothing. */
  startRun(connector: string, task: number, signal: AbortSignal): TaskRun {
    const process = currentProcess()!
    const { nowMs } = this.#simulation
    this.#simulation.note(process.name, `runs ${connector}-${task}`)
    const known = this.#ofTask.get(signal)
    if (known !== undefined) {
      known.isOver = false
      return known
    }
    for (const run of this.#runs)
      if (run.connector === connector && run.task === task)
        run.superseded ??= { atMs: nowMs, pausedMs: run.process.pausedMs }
    const run: TaskRun = { connector, task, process, isOver: false, superseded: undefined }
    this.#runs.push(run)
    this.#ofTask.set(signal, run)
    return run
  }

  endRun(run: TaskRun): void {
    run.isOver = true
    this.#simulation.note(run.process.name, `has ended ${run.connector}-${run.task}`)
  }

  /** Called when the code of the connector runs: not for long after another worker has started the task. */
  markActive({ connector, task, process, superseded }: TaskRun): void {
    if (superseded === undefined) return
    const awakeMs = this.#simulation.nowMs - superseded.atMs - (process.pausedMs - superseded.pausedMs)
    if (awakeMs < ZOMBIE_MS_MAX) return
    const what = `${process.name} still runs ${connector}-${task} ${awakeMs} ms after another process has started it`
    process.fail(new Violation(what))
  }

  /** The runs that go on. */
  currentRuns(): readonly TaskRun[] {
    return this.#runs.filter(({ isOver, process }) => !isOver && process.isAlive)
  }

  deliver(sink: string, topic: string, partition: number, offset: number): void {
    const key = ledgerKey(sink, topic, partition)
    const ledger = this.#ledgers.get(key) ?? []
    this.#ledgers.set(key, ledger)
    ledger.push(offset)
  }

  delivered(sink: string, topic: string, partition: number): readonly number[] {
    return this.#ledgers.get(ledgerKey(sink, topic, partition)) ?? []
  }
}

/** Whether a user has requested that a connector continues at this position. */
export function isAltered({ alterations }: ExternalSystem, wanted: Alteration): boolean {
  return alterations.some(
    ({ connector, partition, position }) =>
      connector === wanted.connector && partition === wanted.partition && position === wanted.position,
  )
}

function ledgerKey(sink: string, topic: string, partition: number): string {
  return `${sink} ${topic}-${partition}`
}
