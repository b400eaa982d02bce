import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import type { Broker, Isolation, NewTopic, PartitionOffset } from '../broker.ts'
import { topicPartitionKey } from '../topic-partition.ts'
import { explainLate, lateError } from './state-topic-checks.ts'

export type ReadLimits = {
  /** How long no position on the way may change. */
  readonly timeoutMs: number
  /** The same until the first one changes. Default: `timeoutMs`. */
  readonly firstMs?: number
  /** Whether the brokers are asked for the reason then. */
  readonly explains?: boolean
}

export type PositionWaitersOptions = {
  readonly broker: Broker
  readonly topic: NewTopic
  readonly isolation?: Isolation
  readonly clock: Clock
  /** The current positions of the view, by partition. */
  readonly positions: ReadonlyMap<string, PartitionOffset>
}

type Waiter = {
  readonly until: ReadonlyMap<string, number>
  /** When it times out, in ms of the monotonic clock. Renewed by progress: what a busy machine reads slowly is not unreadable. */
  untilMs: number
  readonly timeoutMs: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Callers that wait until a view has reached offsets. */
export class PositionWaiters {
  readonly #options: PositionWaitersOptions
  readonly #waiters = new Set<Waiter>()

  constructor(options: PositionWaitersOptions) {
    this.#options = options
  }

  /** Resolves when the view has reached these offsets. */
  async reach(
    ends: readonly PartitionOffset[],
    { timeoutMs, firstMs = timeoutMs, explains = false }: ReadLimits,
  ): Promise<void> {
    const until = new Map<string, number>()
    for (const end of ends)
      until.set(topicPartitionKey(end), Math.max(end.offset, until.get(topicPartitionKey(end)) ?? 0))
    if (this.#hasReached(until)) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const ended = new AbortController()
    const waiter: Waiter = { until, untilMs: this.#options.clock.monotonicMs() + firstMs, timeoutMs, resolve, reject }
    this.#waiters.add(waiter)
    void this.#expire(waiter, explains, ended.signal)
    try {
      await promise
    } finally {
      ended.abort(WAIT_ENDED)
      this.#waiters.delete(waiter)
    }
  }

  /** Resolves those whose offsets are reached, and returns whether there were any. */
  resolveReached(): boolean {
    const reached = [...this.#waiters].filter(({ until }) => this.#hasReached(until))
    for (const waiter of reached) waiter.resolve()
    return reached.length > 0
  }

  /** Begins the timeout anew of those for whom this partition has moved on from `offset`. */
  renew(partition: string, offset: number): void {
    const nowMs = this.#options.clock.monotonicMs()
    for (const waiter of this.#waiters)
      if (offset < (waiter.until.get(partition) ?? 0)) waiter.untilMs = nowMs + waiter.timeoutMs
  }

  rejectAll(error: Error): void {
    for (const waiter of this.#waiters) waiter.reject(error)
  }

  #hasReached(until: ReadonlyMap<string, number>): boolean {
    for (const [key, offset] of until) if ((this.#options.positions.get(key)?.offset ?? 0) < offset) return false
    return true
  }

  async #expire(waiter: Waiter, explains: boolean, ended: AbortSignal): Promise<void> {
    const { clock, topic, positions } = this.#options
    for (;;) {
      const leftMs = waiter.untilMs - clock.monotonicMs()
      if (leftMs <= 0) break
      await clock.sleep(Math.ceil(leftMs), ended).catch(() => undefined)
      if (ended.aborted) return
    }
    const { until, timeoutMs } = waiter
    this.#waiters.delete(waiter)
    waiter.reject(
      explains ? await explainLate(this.#options, positions, until, timeoutMs) : lateError(topic.name, timeoutMs),
    )
  }
}
