import { createHash } from 'node:crypto'
import { ApiError, type KubernetesApi } from '../../../clients/kubernetes/kubernetes-api.ts'
import type { Clock } from '../../../common/clock.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { API_VERSION } from '../../../common/resource-api.ts'
import { withTimeout } from '../../../common/timeout.ts'
import { truncateBytes } from '../../../common/truncate-text.ts'

import type { ResourceEvent } from '../cluster.ts'

export type Regarding = {
  readonly kind: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export type EventRecorderOptions = {
  readonly api: Pick<KubernetesApi, 'send'>
  readonly clock: Clock
  readonly logger: Logger
  /** Name of this process. */
  readonly identity: string
  /** Whether the operator is writing resources. Default: never. */
  readonly isWriting?: () => boolean
}

type Waiting = { readonly regarding: Regarding; readonly event: ResourceEvent; readonly atMs: number }

const CONTROLLER = 'weir.dev/operator'
const NOTE_BYTES_MAX = 1_024
/** An equal Event within this time increments the series of the first one. */
const SERIES_MS = 600_000
/** Rate limit of each object: a burst, and one token per refill period. */
const BURST = 25
const REFILL_MS = 300_000
const OBJECTS_MAX = 10_000
/** Requests at the same time. */
const SENDING_MAX = 4
/** Events that wait to be sent; further ones are dropped. */
const WAITING_MAX = 20_000
/**
 * While resources are written, each request after this many is delayed, so that thousands of resources become Ready before
 * their Events are sent. An Event does not wait longer than `YIELD_MAX_MS`, nor where others would be dropped.
 */
const UNDELAYED_MAX = 20
const YIELD_MS = 500
const YIELD_MAX_MS = 120_000
/** How long `stop` waits: the operator has less than 25 s in all to stop. */
const STOP_MS = 5_000

const WARNING_INTERVAL_MS = 600_000

type Series = { readonly name: string; count: number; lastMs: number }
type Bucket = { tokens: number; atMs: number }

/** Records Events on resources, for `kubectl describe`. Best effort: a lost Event changes nothing else. */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #series = new Map<string, Series>()
  readonly #buckets = new Map<string, Bucket>()
  readonly #waiting = { Warning: new Set<Waiting>(), Normal: new Set<Waiting>() }
  readonly #senders = new Set<Promise<void>>()
  readonly #stopping = new AbortController()
  /** Requests since the operator began to write. */
  #sentWhileWriting = 0
  #warnedMs = Number.NEGATIVE_INFINITY
  #isStopped = false

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  record(regarding: Regarding, event: ResourceEvent): void {
    const { clock } = this.#options
    if (this.#isStopped || this.#waitingCount() >= WAITING_MAX) return
    if (!this.#takeToken(regarding.uid, clock.monotonicMs())) return
    this.#waiting[event.type].add({ regarding, event, atMs: clock.nowMs() })
    if (this.#senders.size === SENDING_MAX) return
    const sender = this.#sendWaiting().finally(() => this.#senders.delete(sender))
    this.#senders.add(sender)
  }

  /** Resolves when the recorded Events were sent or have failed; after 5 s the remaining ones are dropped. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await withTimeout(Promise.all(this.#senders), STOP_MS, () => undefined, this.#options.clock)
    this.#isStopped = true
  }

  async #sendWaiting(): Promise<void> {
    const { clock } = this.#options
    for (let next = this.#takeNext(); next !== undefined && !this.#isStopped; next = this.#takeNext()) {
      const { reason } = next.event
      if (this.#shouldYield(next)) await clock.sleep(YIELD_MS, this.#stopping.signal).catch(() => undefined)
      await this.#send(next).catch((error: unknown) => this.#report(error, reason))
    }
  }

  /** Warnings first; those of a type in the order of their time. */
  #takeNext(): Waiting | undefined {
    const from = this.#waiting.Warning.size > 0 ? this.#waiting.Warning : this.#waiting.Normal
    const [next] = from
    if (next !== undefined) from.delete(next)
    return next
  }

  #shouldYield({ event: { type }, atMs }: Waiting): boolean {
    const { clock, isWriting = () => false } = this.#options
    this.#sentWhileWriting = isWriting() ? this.#sentWhileWriting + 1 : 0
    if (this.#sentWhileWriting <= UNDELAYED_MAX || type === 'Warning' || this.#stopping.signal.aborted) return false
    return clock.nowMs() - atMs < YIELD_MAX_MS && this.#waitingCount() < WAITING_MAX / 2
  }

  #waitingCount(): number {
    return this.#waiting.Warning.size + this.#waiting.Normal.size
  }

  /** Logs a missing permission as a warning, at most once per interval. */
  #report(error: unknown, reason: string): void {
    const { clock, logger } = this.#options
    logger.debug({ err: error, reason }, 'could not record an event')
    const isForbidden = error instanceof ApiError && error.code === 'forbidden'
    const nowMs = clock.monotonicMs()
    if (!isForbidden || nowMs - this.#warnedMs < WARNING_INTERVAL_MS) return
    this.#warnedMs = nowMs
    const remedy = 'grant create and patch on events of events.k8s.io, as weir crds --rbac prints it'
    logger.warn({ err: error, reason }, `cannot record Events: ${remedy}`)
  }

  #takeToken(uid: string, atMs: number): boolean {
    const bucket = this.#buckets.get(uid) ?? { tokens: BURST, atMs }
    const refilled = Math.floor((atMs - bucket.atMs) / REFILL_MS)
    bucket.tokens = Math.min(BURST, bucket.tokens + refilled)
    bucket.atMs += refilled * REFILL_MS
    remember(this.#buckets, uid, bucket)
    if (bucket.tokens === 0) return false
    bucket.tokens -= 1
    return true
  }

  async #send({ regarding, event, atMs }: Waiting): Promise<void> {
    const note = truncateBytes(event.note, NOTE_BYTES_MAX)
    const id = createHash('sha256')
      .update(JSON.stringify([regarding.uid, event.reason, note]))
      .digest('hex')
      .slice(0, 16)
    const known = this.#series.get(id)
    if (known !== undefined && atMs - known.lastMs < SERIES_MS) {
      known.count += 1
      known.lastMs = atMs
      return this.#incrementSeries(regarding.namespace, known)
    }
    // The time distinguishes the name from that of an earlier series.
    const stem = regarding.name.slice(0, 200).replace(/[.-]+$/, '')
    const series = { name: `${stem}.${id}${atMs.toString(16)}`, count: 1, lastMs: atMs }
    remember(this.#series, id, series)
    const { api, identity } = this.#options
    const { kind, namespace, name, uid } = regarding
    const body = {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace, name: series.name },
      eventTime: microTime(atMs),
      regarding: { apiVersion: API_VERSION, kind, namespace, name, uid },
      reason: event.reason,
      action: 'Reconcile',
      note,
      type: event.type,
      reportingController: CONTROLLER,
      reportingInstance: identity,
    }
    await api.send({ method: 'POST', path: pathOf(namespace), body })
  }

  async #incrementSeries(namespace: string, { name, count, lastMs }: Series): Promise<void> {
    const body = { series: { count, lastObservedTime: microTime(lastMs) } }
    const path = `${pathOf(namespace)}/${encodeURIComponent(name)}`
    await this.#options.api
      .send({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' })
      .catch((error: unknown) => {
        // Events are kept for an hour: the first one of the series may no longer exist.
        if (!(error instanceof ApiError) || error.status !== 404) throw error
      })
  }
}

function pathOf(namespace: string): string {
  return `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`
}

function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

/** Cuts a text to this number of bytes at a character boundary. */
/** Adds an entry and removes the oldest one when there are too many. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > OBJECTS_MAX) map.delete(map.keys().next().value!)
}
