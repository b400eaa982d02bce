import { SeededRandom } from '../support/seeded-random.ts'
import { runInProcess } from './current-process.ts'
import { Network } from './network.ts'
import { SimulatedHttp } from './simulated-http.ts'
import { SimulatedProcess } from './simulated-process.ts'
import { type Timeline, TimelineRecorder } from './timeline.ts'

/** Node's own, because `virtual-globals.ts` replaces the global ones. */
const { setImmediate: nextTurn } = globalThis

/** A history has a few hundred. */
const EVENTS_MAX = 200_000

/** A callback at a moment of virtual time. It runs on behalf of a process, and not at all when that has crashed. */
export type ScheduledEvent = {
  /** These two are changed only while the event is not in the queue. */
  atMs: number
  order: number
  readonly owner: SimulatedProcess
  readonly run: () => void
  isCancelled: boolean
}

/**
 * A simulated machine room: virtual time and a queue of events, which are run one at a time in the order of their time. Everything that
 * happens is a function of the seed: between two events all code that can run has run.
 */
export class Simulation {
  readonly seed: number
  /** For what the world decides. Links of the network have random numbers of their own. */
  readonly random: SeededRandom
  readonly network: Network
  readonly http: SimulatedHttp
  readonly #queue = new EventQueue()
  readonly #timeline = new TimelineRecorder()
  readonly #processes = new Set<SimulatedProcess>()
  #nowMs = 0
  #order = 0
  #events = 0

  constructor(seed: number) {
    this.seed = seed
    this.random = new SeededRandom(seed)
    this.network = new Network(this)
    this.http = new SimulatedHttp(this.network)
  }

  /** Milliseconds since the start. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** How many events were run. */
  get events(): number {
    return this.#events
  }

  get timeline(): Timeline {
    return this.#timeline
  }

  /** Random numbers of their own for a part of the world, so that the other parts do not change when it is used less. */
  randomOf(name: string): SeededRandom {
    let hash = this.seed | 0
    for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01_00_01_93)
    return new SeededRandom(hash >>> 0)
  }

  /** Starts a process in which `run` can be called. */
  process(name: string, machine = name): SimulatedProcess {
    const process = new SimulatedProcess(name, machine, this)
    this.#processes.add(process)
    return process
  }

  /** Notes something for the timeline of a failed history. */
  note(who: string, what: string): void {
    this.#timeline.add(this.#nowMs, who, what)
  }

  schedule(owner: SimulatedProcess, delayMs: number, run: () => void): ScheduledEvent {
    const atMs = this.#nowMs + Math.max(0, delayMs)
    const event: ScheduledEvent = { atMs, order: this.#order++, owner, run, isCancelled: false }
    this.#queue.add(event)
    return event
  }

  /**
   * Runs events until `isDone` returns true or virtual time is `untilMs`. Resolves to whether it was done. Rejects with what
   * `isDone` throws, and with errors that processes did not catch.
   */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    await settle()
    for (;;) {
      this.#throwUncaught()
      if (isDone()) return true
      const event = this.#queue.next(untilMs)
      if (event === undefined) {
        this.#nowMs = Math.max(this.#nowMs, untilMs)
        return isDone()
      }
      if (event.isCancelled || !event.owner.isAlive) continue
      if (event.owner.isPausedUntilMs > event.atMs) {
        // The same object, because its timer can still be cleared.
        event.atMs = event.owner.isPausedUntilMs
        event.order = this.#order++
        this.#queue.add(event)
        continue
      }
      this.#nowMs = Math.max(this.#nowMs, event.atMs)
      this.#events += 1
      if (this.#events > EVENTS_MAX) throw new Error(`more than ${EVENTS_MAX} events: something repeats without end`)
      try {
        runInProcess(event.owner, event.run)
      } catch (error) {
        event.owner.fail(error)
      }
      await settle()
    }
  }

  /** Ends all processes, so that nothing of this history runs any more. */
  end(): void {
    for (const process of this.#processes) process.end()
  }

  #throwUncaught(): void {
    for (const { uncaught } of this.#processes) if (uncaught !== undefined) throw uncaught.error
  }
}

/** Waits until all code that does not wait for an event has run. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    nextTurn(resolve)
  })
}

/** A binary heap by time, then by the order in which the events were added. */
class EventQueue {
  readonly #heap: ScheduledEvent[] = []

  add(event: ScheduledEvent): void {
    const heap = this.#heap
    let at = heap.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(event, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = event
  }

  /** Removes and returns the next event at or before `untilMs`. */
  next(untilMs: number): ScheduledEvent | undefined {
    const heap = this.#heap
    const [first] = heap
    if (first === undefined || first.atMs > untilMs) return undefined
    const last = heap.pop()!
    if (heap.length > 0) this.#sink(last)
    return first
  }

  #sink(event: ScheduledEvent): void {
    const heap = this.#heap
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1
      if (!isBefore(heap[child]!, event)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = event
  }
}

function isBefore(left: ScheduledEvent, right: ScheduledEvent): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order)
}
