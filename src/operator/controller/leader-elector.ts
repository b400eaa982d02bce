import { ClusterError } from '../../clients/kubernetes/cluster-error.ts'
import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { type Fence, NotLeaderError, type Stoppable } from './leader-fence.ts'

/** The leader election record that all candidates share. */
export type Lease = {
  /** Empty: the last leader released the lease. */
  readonly holder: string
  /** After this time without a renewal another candidate may take the lease. */
  readonly durationMs: number
  /** How often the holder changed. */
  readonly transitions: number
  /** ISO 8601, for information only. Clocks differ between machines, so no decision uses them. */
  readonly acquiredAt: string
  readonly renewedAt: string
}
export type VersionedLease = { readonly lease: Lease; readonly version: string }

/** Where the lease is stored. */
export interface LeaseLock {
  /** Namespace and name, for the log. */
  readonly name: string
  /** Undefined where no lease exists. */
  read(signal: AbortSignal): Promise<VersionedLease | undefined>
  /** Replaces this version only; without a version, creates the lease. Undefined on a conflict. */
  write(lease: Lease, version: string | undefined, signal: AbortSignal): Promise<VersionedLease | undefined>
}

export type LeaderElectorOptions = {
  readonly lock: LeaseLock
  /** Unique to this process. */
  readonly identity: string
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
  /** Called each time this process becomes the leader. */
  readonly onStartedLeading: (fence: Fence) => Stoppable
}

/** Another candidate may take the lease this long after its last renewal. */
const LEASE_MS = 15_000
/** A leader that could not renew for this long stops leading, well before another candidate may start. */
const RENEW_MS = 10_000
const RETRY_MS = 2_000

type ClockReadings = { readonly monotonicMs: number; readonly nowMs: number }

/**
 * The leader election of operators, as in client-go: takes part while it runs, and leads while it holds the lease. The
 * age of a lease is measured from the moment its last change was observed here, never from timestamps that another
 * machine wrote.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #stopping = new AbortController()
  #observed: { readonly version: string; readonly atMs: number; readonly lease: Lease } | undefined
  /** Undefined while the stored lease is not known for certain. */
  #own: VersionedLease | undefined
  #renewed: ClockReadings | undefined
  #term: AbortController | undefined
  #isForbidden = false
  /** When all writes have ended that got no response. */
  #unansweredUntilMs = Number.NEGATIVE_INFINITY
  #loop: Promise<void> = Promise.resolve()

  constructor(options: LeaderElectorOptions) {
    this.#options = options
  }

  get isLeader(): boolean {
    return this.#term !== undefined
  }

  /** The identity of the process that holds the lease; undefined if none does, or its lease has expired. */
  get leader(): string | undefined {
    if (this.isLeader) return this.#options.identity
    const lease = this.#observed?.lease
    return lease === undefined || this.#isFree(lease) ? undefined : lease.holder
  }

  /** Whether the last attempt failed because of a missing permission. Such a process can never take over. */
  get isForbidden(): boolean {
    return this.#isForbidden
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** Stops leading, then releases the lease. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  async #run(): Promise<void> {
    const { logger, lock, identity } = this.#options
    logger.info({ lease: lock.name, identity }, 'standing by')
    while (!this.#stopping.signal.aborted) {
      if ((await this.#try(LEASE_MS)) === 'held') await this.#lead()
      else await this.#pause(this.#stopping.signal)
    }
  }

  async #lead(): Promise<void> {
    const { logger, onStartedLeading } = this.#options
    logger.info('leading')
    const term = new AbortController()
    this.#term = term
    const active = onStartedLeading({
      signal: term.signal,
      assertFor: (ms) => this.#assertFor(term, ms),
      reportUnanswered: (ms) => this.#reportUnanswered(ms),
    })
    const ended = new AbortController()
    const renewing = this.#renew(term, ended.signal)
    await Promise.race([renewing, aborted(this.#stopping.signal)])
    // The lease is renewed until the last reconciles have ended, so their writes stay fenced.
    await active.stop()
    ended.abort()
    await renewing
    this.#term = undefined
    if (term.signal.aborted) logger.warn({ err: term.signal.reason }, 'stopped leading')
    else await this.#release()
    term.abort(new NotLeaderError())
  }

  async #renew(term: AbortController, ended: AbortSignal): Promise<void> {
    for (;;) {
      await this.#pause(ended)
      if (ended.aborted) return
      const leftMs = RENEW_MS - this.#sinceRenewalMs()
      const outcome = leftMs > 0 ? await this.#try(leftMs) : 'failed'
      const isLost = outcome === 'taken' || this.#sinceRenewalMs() >= RENEW_MS
      if (!isLost) continue
      const reason =
        outcome === 'taken' ? 'another process holds the lease' : `the lease was not renewed for ${RENEW_MS} ms`
      term.abort(new NotLeaderError(reason))
      return
    }
  }

  /** Makes one attempt to acquire or renew the lease. */
  async #try(withinMs: number): Promise<'held' | 'taken' | 'failed'> {
    try {
      const isHeld = await this.#within(withinMs, (signal) => this.#take(signal))
      this.#isForbidden = false
      return isHeld ? 'held' : 'taken'
    } catch (error) {
      this.#isForbidden = error instanceof ClusterError && error.code === 'forbidden'
      if (!this.#stopping.signal.aborted) this.#options.logger.warn({ err: error }, 'cannot acquire or renew the lease')
      return 'failed'
    }
  }

  async #take(signal: AbortSignal): Promise<boolean> {
    const { lock, identity, clock } = this.#options
    const found = this.#own ?? (await lock.read(signal))
    this.#recordObserved(found)
    const isOwn = found?.lease.holder === identity
    if (found !== undefined && !isOwn && !this.#isFree(found.lease)) return false
    const now = new Date(clock.nowMs()).toISOString()
    const lease: Lease = {
      holder: identity,
      durationMs: LEASE_MS,
      transitions: (found?.lease.transitions ?? -1) + (isOwn ? 0 : 1),
      acquiredAt: isOwn ? found.lease.acquiredAt : now,
      renewedAt: now,
    }
    const sent = this.#clockReadings()
    this.#own = await lock.write(lease, found?.version, signal)
    if (this.#own === undefined) return isOwn && this.#take(signal)
    // Counted from when the request was sent: other candidates may have observed it from then on.
    this.#renewed = sent
    return true
  }

  #recordObserved(found: VersionedLease | undefined): void {
    if (found === undefined || found.version === this.#observed?.version) return
    const { version, lease } = found
    this.#observed = { version, atMs: this.#options.clock.monotonicMs(), lease }
  }

  #isFree({ holder, durationMs }: Lease): boolean {
    const ageMs = this.#options.clock.monotonicMs() - (this.#observed?.atMs ?? 0)
    return holder === '' || ageMs >= durationMs
  }

  async #release(): Promise<void> {
    const { lock, logger, clock } = this.#options
    const own = this.#own
    if (own === undefined) return
    if (this.#unansweredUntilMs > clock.monotonicMs()) {
      // Another leader must not start before this write can no longer take effect.
      logger.info('a write got no response and may still take effect: the lease is left to expire')
      return
    }
    try {
      const lease = { ...own.lease, holder: '', durationMs: 1_000 }
      await this.#within(RETRY_MS, (signal) => lock.write(lease, own.version, signal))
    } catch (error) {
      logger.warn(
        { err: error },
        `cannot release the lease: other candidates wait until it expires after ${LEASE_MS} ms`,
      )
    }
  }

  #assertFor(term: AbortController, ms: number): void {
    term.signal.throwIfAborted()
    if (this.#sinceRenewalMs() + ms > LEASE_MS) throw new NotLeaderError('the lease was not renewed in time')
  }

  #reportUnanswered(ms: number): void {
    this.#unansweredUntilMs = Math.max(this.#unansweredUntilMs, this.#options.clock.monotonicMs() + ms)
  }

  #clockReadings(): ClockReadings {
    const { clock } = this.#options
    return { monotonicMs: clock.monotonicMs(), nowMs: clock.nowMs() }
  }

  /** Uses the clock that advanced further: one of them stands still while a machine is suspended. */
  #sinceRenewalMs(): number {
    if (this.#renewed === undefined) return Number.POSITIVE_INFINITY
    const { monotonicMs, nowMs } = this.#clockReadings()
    return Math.max(monotonicMs - this.#renewed.monotonicMs, nowMs - this.#renewed.nowMs)
  }

  /** Adds jitter, so that candidates do not call at the same time. */
  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.#options
    await clock.sleep(RETRY_MS * (0.8 + random() * 0.4), signal).catch(() => undefined)
  }

  async #within<T>(ms: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock } = this.#options
    const [limit, done] = [new AbortController(), new AbortController()]
    clock.sleep(ms, done.signal).then(
      () => limit.abort(new Error(`no response within ${Math.round(ms)} ms`)),
      () => undefined,
    )
    try {
      return await run(limit.signal)
    } finally {
      done.abort(WAIT_ENDED)
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
