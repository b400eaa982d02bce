import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import { type Backoff, backoffMs } from '../../common/retry.ts'
import { type ControllerMetrics, NO_METRICS, type QueueState } from './controller-metrics.ts'
import { type Priority, PriorityQueue } from './priority-queue.ts'
import { RATE_LIMITED_BACKOFF } from './requeue-delays.ts'

export type WorkQueueOptions<Key extends string> = {
  readonly clock: Clock
  readonly backoff?: Backoff
  readonly random?: () => number
  readonly metrics?: ControllerMetrics
  /**
   * Which flow a key belongs to, such as the runtime that its reconcile calls. A slow or full flow delays no other
   * flow. Default: all keys are one flow.
   */
  readonly flowOf?: (key: Key) => string
  /** How many keys of one flow are processed at the same time. Default: no limit. */
  readonly flowConcurrency?: number
}

/** The queue checks for due keys at this interval, so a delayed key is at most this late. */
const DELAY_PRECISION_MS = 20

/**
 * A rate-limiting work queue as in client-go. A key waits once however often it is added; a key that is added while it
 * is processed is returned again after `done`, never before. Flows take turns, each with at most `flowConcurrency` keys
 * in process. The length is bounded by the number of distinct keys. An `AsyncQueue` would keep every `add` as an item of its own.
 */
export class WorkQueue<Key extends string> {
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #metrics: ControllerMetrics
  readonly #flowOf: (key: Key) => string
  readonly #flowConcurrency: number
  readonly #flows = new Map<string, PriorityQueue<Key>>()
  /** Flows with a waiting key and a free slot; the first one is next. */
  readonly #ready = new Set<PriorityQueue<Key>>()
  readonly #waiting = new Map<Key, { readonly flow: PriorityQueue<Key>; readonly sinceMs: number }>()
  readonly #processing = new Map<Key, { readonly flow: PriorityQueue<Key>; readonly sinceMs: number }>()
  /** Keys that were added during their processing. */
  readonly #dirty = new Map<Key, Priority>()
  readonly #dueMs = new Map<Key, number>()
  readonly #failures = new Map<Key, number>()
  readonly #waitingGets: ((key: Key | undefined) => void)[] = []
  #timerDueMs = Number.POSITIVE_INFINITY
  #timer: AbortController | undefined
  #closed = false

  constructor(options: WorkQueueOptions<Key>) {
    this.#clock = options.clock
    this.#backoff = options.backoff ?? RATE_LIMITED_BACKOFF
    this.#random = options.random ?? Math.random
    this.#metrics = options.metrics ?? NO_METRICS
    this.#flowOf = options.flowOf ?? (() => '')
    this.#flowConcurrency = options.flowConcurrency ?? Number.POSITIVE_INFINITY
  }

  /** How many keys wait. */
  get length(): number {
    return this.#waiting.size
  }

  state(): QueueState {
    const nowMs = this.#clock.monotonicMs()
    return { waiting: this.length, workingMs: [...this.#processing.values()].map(({ sinceMs }) => nowMs - sinceMs) }
  }

  /** Whether no key waits, is processed, or becomes due within `withinMs`. */
  isIdle(withinMs = 0): boolean {
    const soonMs = this.#clock.monotonicMs() + withinMs
    return (
      this.length === 0 && this.#processing.size === 0 && [...this.#dueMs.values()].every((dueMs) => dueMs > soonMs)
    )
  }

  add(key: Key, priority: Priority = 'user'): void {
    if (this.#closed) return
    this.#dueMs.delete(key)
    if (this.#processing.has(key)) {
      if (this.#dirty.get(key) !== 'user') this.#dirty.set(key, priority)
      return
    }
    this.#enqueue(key, priority)
    this.#dispatch()
  }

  /** Adds the key after a delay; of several delays the earliest counts. */
  addAfter(key: Key, delayMs: number): void {
    if (this.#closed) return
    const dueMs = this.#clock.monotonicMs() + delayMs
    this.#dueMs.set(key, Math.min(dueMs, this.#dueMs.get(key) ?? Number.POSITIVE_INFINITY))
    this.#setTimer(dueMs)
  }

  /** Adds the key after its backoff, which grows with every call until `forget`. Returns the delay. */
  addRateLimited(key: Key): number {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#metrics.retried()
    const delayMs = backoffMs(this.#backoff, failures, this.#random)
    this.addAfter(key, delayMs)
    return delayMs
  }

  /** Resets the backoff of the key. */
  forget(key: Key): void {
    this.#failures.delete(key)
  }

  /**
   * Resolves with the next key, or with undefined once the queue is shut down. Every key must be returned by `done`.
   */
  get(): Promise<Key | undefined> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve(undefined)
      this.#waitingGets.push(resolve)
      this.#dispatch()
    })
  }

  done(key: Key): void {
    const work = this.#processing.get(key)
    if (work === undefined) return
    this.#processing.delete(key)
    work.flow.working -= 1
    this.#updateReady(work.flow)
    const priority = this.#dirty.get(key)
    this.#dirty.delete(key)
    if (priority !== undefined) this.add(key, priority)
    else this.#dispatch()
  }

  shutDown(): void {
    this.#closed = true
    this.#timer?.abort(WAIT_ENDED)
    for (const resolve of this.#waitingGets.splice(0)) resolve(undefined)
  }

  /** A key that waits moves to another flow when `flowOf` changed, as after an edit of its resource. */
  #enqueue(key: Key, added: Priority): void {
    const before = this.#waiting.get(key)
    const sinceMs = before?.sinceMs ?? this.#clock.monotonicMs()
    const name = this.#flowOf(key)
    const flow = this.#flows.get(name) ?? new PriorityQueue<Key>(name)
    let priority = added
    if (before === undefined) this.#metrics.added()
    else if (before.flow !== flow) {
      if (before.flow.remove(key) === 'user') priority = 'user'
      this.#updateReady(before.flow)
    }
    flow.add(key, priority, sinceMs)
    this.#flows.set(name, flow)
    this.#waiting.set(key, { flow, sinceMs })
    this.#updateReady(flow)
  }

  #updateReady(flow: PriorityQueue<Key>): void {
    if (flow.hasWaiting && flow.working < this.#flowConcurrency) this.#ready.add(flow)
    else this.#ready.delete(flow)
    if (!flow.hasWaiting && flow.working === 0) this.#flows.delete(flow.name)
  }

  #dispatch(): void {
    while (this.#waitingGets.length > 0) {
      const key = this.#next()
      if (key === undefined) return
      this.#waitingGets.shift()?.(key)
    }
  }

  #next(): Key | undefined {
    const [flow] = this.#ready
    const key = flow?.next()
    if (flow === undefined || key === undefined) return undefined
    const nowMs = this.#clock.monotonicMs()
    const sinceMs = this.#waiting.get(key)?.sinceMs ?? nowMs
    flow.remove(key)
    this.#waiting.delete(key)
    flow.working += 1
    this.#processing.set(key, { flow, sinceMs: nowMs })
    // Moves to the end: flows take turns.
    this.#ready.delete(flow)
    this.#updateReady(flow)
    this.#metrics.dequeued(nowMs - sinceMs)
    return key
  }

  #setTimer(dueMs: number): void {
    if (dueMs >= this.#timerDueMs) return
    this.#timer?.abort(WAIT_ENDED)
    this.#timer = new AbortController()
    this.#timerDueMs = dueMs
    const waitMs = Math.max(DELAY_PRECISION_MS, dueMs - this.#clock.monotonicMs())
    this.#clock.sleep(waitMs, this.#timer.signal).then(
      () => this.#addDue(),
      () => undefined,
    )
  }

  #addDue(): void {
    this.#timerDueMs = Number.POSITIVE_INFINITY
    const nowMs = this.#clock.monotonicMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const [key, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs)
      else this.add(key, 'routine')
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#setTimer(nextMs)
  }
}
