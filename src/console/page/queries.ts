import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { needsLogIn, RequestFailure, request } from './api.ts'
import { type Changes, isLive, onChanges } from './event-stream.ts'

/** What a view shows of a GET request: the last data, even while a later request fails. */
export type LiveQuery<Data> = {
  readonly data: ReadonlySignal<Data | undefined>
  readonly error: ReadonlySignal<RequestFailure | undefined>
  /** Reads again, now. */
  refresh(): Promise<void>
}

/** Changes that make the data of a path outdated. */
export type QueryDependency = { readonly kind: Changes['kind']; readonly name?: string }

/** How often a view is read again: with events only for what causes none, such as offsets. */
const POLL_MS = { live: 15_000, notLive: 3_000 }
/** A list that takes long is not read again and again: at most this share of the time. */
const BUSY_SHARE = 0.1
const PAUSE_MIN_MS = 500

/** Of a path that is undefined. */
const NO_QUERY: LiveQuery<unknown> = {
  data: signal(undefined),
  error: signal(undefined),
  refresh: async () => {},
}

/** Reads of all views that are shown, by path. Views with the same path share one. */
const queries = new Map<string, ActiveQuery<unknown>>()

/** Reads a path while the calling component is shown (nothing while it is undefined), and again when its dependencies change. */
export function useQuery<Data>(path: string | undefined, ...dependencies: readonly QueryDependency[]): LiveQuery<Data> {
  // A component keeps its query even if the one that it shares it with ends its use in the same rendering.
  const query = useMemo(() => (path === undefined ? NO_QUERY : queryOf<Data>(path, dependencies)), [path])
  useEffect(() => (query instanceof ActiveQuery ? query.use() : undefined), [query])
  return query as LiveQuery<Data>
}

/** Reads a path once, and again only on request and after actions: for what is expensive, or audited. */
export function useOnDemandQuery<Data>(path: string): LiveQuery<Data> {
  const query = useMemo(() => queryOf<Data>(path, [], false), [path])
  useEffect(() => query.use(), [query])
  return query
}

function queryOf<Data>(path: string, dependencies: readonly QueryDependency[], isPeriodic = true): ActiveQuery<Data> {
  const query = queries.get(path) ?? new ActiveQuery<unknown>(path, dependencies, isPeriodic)
  queries.set(path, query)
  return query as ActiveQuery<Data>
}

/** Reads all paths again that are shown. Called after an action. */
export function refreshAll(): Promise<unknown> {
  return Promise.all([...queries.values()].map((query) => query.refresh()))
}

class ActiveQuery<Data> implements LiveQuery<Data> {
  readonly data: Signal<Data | undefined> = signal(undefined)
  readonly error: Signal<RequestFailure | undefined> = signal(undefined)
  readonly #path: string
  readonly #dependencies: readonly QueryDependency[]
  readonly #isPeriodic: boolean
  #users = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #reading: Promise<void> | undefined
  #isOutdated = false
  #pauseMs = PAUSE_MIN_MS
  #stopListening = () => {}

  constructor(path: string, dependencies: readonly QueryDependency[], isPeriodic: boolean) {
    this.#path = path
    this.#dependencies = dependencies
    this.#isPeriodic = isPeriodic
  }

  /** Returns a function that ends the use. */
  use(): () => void {
    this.#users += 1
    if (this.#users === 1) {
      queries.set(this.#path, this)
      this.#stopListening = onChanges((changes) => this.#onChanges(changes))
      void this.refresh()
    }
    return () => {
      this.#users -= 1
      if (this.#users > 0) return
      clearTimeout(this.#timer)
      this.#stopListening()
      if (queries.get(this.#path) === this) queries.delete(this.#path)
    }
  }

  /** A request that is under way may have been answered before the change. */
  async refresh(): Promise<void> {
    if (this.#reading !== undefined) {
      this.#isOutdated = true
      return this.#reading
    }
    clearTimeout(this.#timer)
    this.#reading = this.#read()
    await this.#reading
    this.#reading = undefined
    const isRepeated = this.#isPeriodic || this.#isOutdated || this.error.value?.status === 401
    const pauseMs = this.#isOutdated ? this.#pauseMs : POLL_MS[isLive.value ? 'live' : 'notLive']
    this.#isOutdated = false
    if (this.#users > 0 && isRepeated) this.#schedule(Math.max(pauseMs, this.#pauseMs))
  }

  #schedule(pauseMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      // Nothing is read for a page that nobody sees, or that waits for credentials.
      if (document.visibilityState === 'hidden' || needsLogIn.value) this.#schedule(pauseMs)
      else void this.refresh()
    }, pauseMs)
  }

  async #read(): Promise<void> {
    const startMs = performance.now()
    try {
      this.data.value = await request<Data>('GET', this.#path)
      this.error.value = undefined
    } catch (error) {
      this.error.value = error instanceof RequestFailure ? error : new RequestFailure(0, String(error))
    }
    this.#pauseMs = Math.max(PAUSE_MIN_MS, (performance.now() - startMs) / BUSY_SHARE)
  }

  #onChanges(changes: readonly Changes[]): void {
    const isAffected = this.#dependencies.some(({ kind, name }) =>
      changes.some(
        (change) =>
          change.kind === kind && (name === undefined || change.names === null || change.names.includes(name)),
      ),
    )
    if (!isAffected) return
    if (this.#reading === undefined) this.#schedule(this.#pauseMs)
    else this.#isOutdated = true
  }
}
