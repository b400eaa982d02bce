import type { Clock } from '../../config/clock.ts'
import { type Backoff, backoffMs } from '../../config/retry.ts'
import { type Meter, type QueueReading, UNMETERED } from './meter.ts'

/** `user`: somebody changed something and may be watching. `routine`: looking again at what is probably fine. */
export type Urgency = 'user' | 'routine'

export type WorkQueueOptions = {
  readonly clock: Clock
  readonly backoff?: Backoff
  readonly random?: () => number
  readonly meter?: Meter
}

const BACKOFF: Backoff = { firstMs: 500, maxMs: 300_000 }
/** Out of so many keys one is routine, so that a flood of changes does not stop looking after the rest. */
const ROUTINE_SHARE = 8
/** Delays end this much late at worst; looking for ended ones happens no more often. */
const GRAIN_MS = 20

/**
 * Keys that wait to be worked on. A key waits once however often it is added; a key that is added while somebody works
 * on it is given out again when that work is done, never before. Its length is bounded by the number of keys there are.
 */
export class WorkQueue<Key extends string> {
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #meter: Meter
  /** Since when, by the monotonic clock; in the order in which they came. */
  readonly #waiting: Record<Urgency, Map<Key, number>> = { user: new Map(), routine: new Map() }
  readonly #working = new Map<Key, number>()
  readonly #again = new Map<Key, Urgency>()
  readonly #dueMs = new Map<Key, number>()
  readonly #failures = new Map<Key, number>()
  readonly #takers: ((key: Key | undefined) => void)[] = []
  #given = 0
  #wakeMs = Number.POSITIVE_INFINITY
  #alarm: AbortController | undefined
  #closed = false

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock
    this.#backoff = options.backoff ?? BACKOFF
    this.#random = options.random ?? Math.random
    this.#meter = options.meter ?? UNMETERED
  }

  /** Keys that wait for a worker now. */
  get length(): number {
    return this.#waiting.user.size + this.#waiting.routine.size
  }

  reading(): QueueReading {
    const nowMs = this.#clock.monotonicMs()
    return { waiting: this.length, workingMs: [...this.#working.values()].map((sinceMs) => nowMs - sinceMs) }
  }

  /** True when no key waits, is worked on, or comes back within `withinMs`. */
  idle(withinMs = 0): boolean {
    const soonMs = this.#clock.monotonicMs() + withinMs
    return this.length === 0 && this.#working.size === 0 && [...this.#dueMs.values()].every((dueMs) => dueMs > soonMs)
  }

  add(key: Key, urgency: Urgency = 'user'): void {
    if (this.#closed) return
    this.#dueMs.delete(key)
    if (this.#working.has(key)) {
      if (this.#again.get(key) !== 'user') this.#again.set(key, urgency)
      return
    }
    if (this.#waiting.user.has(key)) return
    const { routine } = this.#waiting
    const sinceMs = routine.get(key) ?? this.#clock.monotonicMs()
    if (!routine.has(key)) this.#meter.added()
    if (urgency === 'user') routine.delete(key)
    this.#waiting[urgency].set(key, sinceMs)
    this.#handOut()
  }

  /** Adds the key later; the earliest of several such times counts. */
  addAfter(key: Key, delayMs: number): void {
    if (this.#closed) return
    const dueMs = this.#clock.monotonicMs() + delayMs
    this.#dueMs.set(key, Math.min(dueMs, this.#dueMs.get(key) ?? Number.POSITIVE_INFINITY))
    this.#setAlarm(dueMs)
  }

  /** Adds the key after its own back-off, which grows with every call until `forget`. Returns the delay. */
  addAfterFailure(key: Key): number {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    this.#meter.retried()
    const delayMs = backoffMs(this.#backoff, failures, this.#random)
    this.addAfter(key, delayMs)
    return delayMs
  }

  /** The key's trouble is over: its next back-off begins small again. */
  forget(key: Key): void {
    this.#failures.delete(key)
  }

  /** Resolves with a key to work on, or undefined once the queue is closed. Every key has to be given back by `done`. */
  take(): Promise<Key | undefined> {
    return new Promise((resolve) => {
      if (this.#closed) return resolve(undefined)
      this.#takers.push(resolve)
      this.#handOut()
    })
  }

  done(key: Key): void {
    this.#working.delete(key)
    const urgency = this.#again.get(key)
    this.#again.delete(key)
    if (urgency !== undefined) this.add(key, urgency)
  }

  close(): void {
    this.#closed = true
    this.#alarm?.abort()
    for (const take of this.#takers.splice(0)) take(undefined)
  }

  #handOut(): void {
    while (this.#takers.length > 0) {
      const key = this.#next()
      if (key === undefined) return
      this.#working.set(key, this.#clock.monotonicMs())
      this.#takers.shift()?.(key)
    }
  }

  #next(): Key | undefined {
    const { user, routine } = this.#waiting
    const lane =
      user.size === 0 || (routine.size > 0 && this.#given % ROUTINE_SHARE === ROUTINE_SHARE - 1) ? routine : user
    for (const [key, sinceMs] of lane) {
      lane.delete(key)
      this.#given++
      this.#meter.taken(this.#clock.monotonicMs() - sinceMs)
      return key
    }
    return undefined
  }

  #setAlarm(dueMs: number): void {
    if (dueMs >= this.#wakeMs) return
    this.#alarm?.abort()
    this.#alarm = new AbortController()
    this.#wakeMs = dueMs
    const waitMs = Math.max(GRAIN_MS, dueMs - this.#clock.monotonicMs())
    this.#clock.sleep(waitMs, this.#alarm.signal).then(
      () => this.#ring(),
      () => undefined,
    )
  }

  #ring(): void {
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
