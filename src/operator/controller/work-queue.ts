import type { Clock } from '../../config/clock.ts'
import { type Backoff, backoffMs } from '../../config/retry.ts'
import { type ControllerMetrics, NO_METRICS, type QueueState } from './controller-metrics.ts'
import { Flow, type Priority } from './flow.ts'

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

const BACKOFF: Backoff = { firstMs: 500, maxMs: 300_000 }
/** The queue checks for due keys at this interval, so a delayed key is at most this late. */
const DELAY_PRECISION_MS = 20

/**
 * A rate-limiting work queue as in client-go. A key waits once however often it is added; a key that is added while it
 * is processed is returned again after `done`, never before. Flows take turns, each with at most `flowConcurrency` keys
 * in process. The length is bounded by the number of distinct keys.
 */
export class WorkQueue<Key extends string> {
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #meter: ControllerMetrics
  readonly #flowOf: (key: Key) => string
  readonly #flowConcurrency: number
  readonly #flows = new Map<string, Flow<Key>>()
  /** Flows with a waiting key and a free slot; the first one is next. */
  readonly #ready = new Set<Flow<Key>>()
  readonly #waiting = new Map<Key, { readonly flow: Flow<Key>; readonly sinceMs: number }>()
  readonly #working = new Map<Key, { readonly flow: Flow<Key>; readonly sinceMs: number }>()
  readonly #again = new Map<Key, Priority>()
  readonly #dueMs = new Map<Key, number>()
  readonly #failures = new Map<Key, number>()
  readonly #takers: ((key: Key | undefined) => void)[] = []
  #wakeMs = Number.POSITIVE_INFINITY
  #alarm: AbortController | undefined
  #closed = false

  constructor(options: WorkQueueOptions<Key>) {
    this.#clock = options.clock
    this.#backoff = options.backoff ?? BACKOFF
    this.#random = options.random ?? Math.random
    this.#meter = options.metrics ?? NO_METRICS
    this.#flowOf = options.flowOf ?? (() => '')
    this.#flowConcurrency = options.flowConcurrency ?? Number.POSITIVE_INFINITY
  }

  /** How many keys wait. */
  get length(): number {
    return this.#waiting.size
  }

  state(): QueueState {
    const nowMs = this.#clock.monotonicMs()
    return { waiting: this.length, workingMs: [...this.#working.values()].map(({ sinceMs }) => nowMs - sinceMs) }
  }

  /** Whether no key waits, is processed, or becomes due within `withinMs`. */
  isIdle(withinMs = 0): boolean {
    const soonMs = this.#clock.monotonicMs() + withinMs
    return this.length === 0 && this.#working.size === 0 && [...this.#dueMs.values()].every((dueMs) => dueMs > soonMs)
  }

  add(key: Key, urgency: Priority = 'user'): void {
    if (this.#closed) return
    this.#dueMs.delete(key)
    if (this.#working.has(key)) {
      if (this.#again.get(key) !== 'user') this.#again.set(key, urgency)
      return
    }
    this.#enqueue(key, urgency)
    this.#handOut()
  }

  /** Adds the key after a delay; of several delays the earliest counts. */
  addAfter(key: Key, delayMs: number): void {
    if (this.#closed) return
    const dueMs = this.#clock.monotonicMs() + delayMs
    this.#dueMs.set(key, Math.min(dueMs, this.#dueMs.get(key) ?? Number.POSITIVE_INFINITY))
    this.#setAlarm(dueMs)
  }

  /** Adds the key after its backoff, which grows with every call until `forget`. Returns the delay. */
  addRateLimited(key: Key): number {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#meter.retried()
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
      this.#takers.push(resolve)
      this.#handOut()
    })
  }

  done(key: Key): void {
    const work = this.#working.get(key)
    if (work === undefined) return
    this.#working.delete(key)
    work.flow.working -= 1
    this.#updateReady(work.flow)
    const urgency = this.#again.get(key)
    this.#again.delete(key)
    if (urgency !== undefined) this.add(key, urgency)
    else this.#handOut()
  }

  shutDown(): void {
    this.#closed = true
    this.#alarm?.abort()
    for (const take of this.#takers.splice(0)) take(undefined)
  }

  /** A key that waits moves to another flow when `flowOf` changed, as after an edit of its resource. */
  #enqueue(key: Key, added: Priority): void {
    const before = this.#waiting.get(key)
    const sinceMs = before?.sinceMs ?? this.#clock.monotonicMs()
    const name = this.#flowOf(key)
    const flow = this.#flows.get(name) ?? new Flow<Key>(name)
    let urgency = added
    if (before === undefined) this.#meter.added()
    else if (before.flow !== flow) {
      if (before.flow.remove(key) === 'user') urgency = 'user'
      this.#updateReady(before.flow)
    }
    flow.add(key, urgency, sinceMs)
    this.#flows.set(name, flow)
    this.#waiting.set(key, { flow, sinceMs })
    this.#updateReady(flow)
  }

  #updateReady(flow: Flow<Key>): void {
    if (flow.hasWaiting && flow.working < this.#flowConcurrency) this.#ready.add(flow)
    else this.#ready.delete(flow)
    if (!flow.hasWaiting && flow.working === 0) this.#flows.delete(flow.name)
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#next()
      if (key === undefined) return
      this.#takers.shift()?.(key)
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
    this.#working.set(key, { flow, sinceMs: nowMs })
    // Moves to the end: flows take turns.
    this.#ready.delete(flow)
    this.#updateReady(flow)
    this.#meter.dequeued(nowMs - sinceMs)
    return key
  }

  #setAlarm(dueMs: number): void {
    if (dueMs >= this.#wakeMs) return
    this.#alarm?.abort()
    this.#alarm = new AbortController()
    this.#wakeMs = dueMs
    const waitMs = Math.max(DELAY_PRECISION_MS, dueMs - this.#clock.monotonicMs())
    this.#clock.sleep(waitMs, this.#alarm.signal).then(
      () => this.#addDue(),
      () => undefined,
    )
  }

  #addDue(): void {
    this.#wakeMs = Number.POSITIVE_INFINITY
    const nowMs = this.#clock.monotonicMs()
    let nextMs = Number.POSITIVE_INFINITY
    for (const [key, dueMs] of this.#dueMs) {
      if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs)
      else this.add(key, 'routine')
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#setAlarm(nextMs)
  }
}
