import type { Clock } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { backoffMs } from '../../common/retry.ts'
import { ApiError, type KubernetesApi } from './kubernetes-api.ts'

export type KubernetesObject = {
  readonly metadata: {
    readonly namespace?: string
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
    readonly managedFields?: unknown
  }
}

export type ReflectorOptions<T extends KubernetesObject> = {
  readonly api: KubernetesApi
  /** Path of the collection, such as `/apis/GROUP/VERSION/subjects`. */
  readonly path: string
  /** Restricts the collection, such as `metadata.name=shop`. */
  readonly fieldSelector?: string
  /** Accept headers for partial objects: of lists, and of watches. */
  readonly accept?: { readonly list: string; readonly watch: string }
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
  readonly store: Store<T>
  /** Called with a reason each time the watch is restarted. */
  readonly onRestart?: OnWatchRestart
}

export type OnWatchRestart = (path: string, reason: string) => void

/** Receives the objects. Called in order, never after `stop`. */
export interface Store<T extends KubernetesObject> {
  /** Receives all objects; a missing one was deleted. */
  replace(objects: readonly T[]): void
  put(object: T): void
  remove(object: T): void
}

type List<T> = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  /** Null in some empty lists. */
  readonly items: readonly T[] | null
}
type Event<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | {
      readonly type: 'ERROR'
      readonly object: { readonly code?: number; readonly reason?: string; readonly message?: string }
    }

const PAGE = 500
const BACKOFF = { firstMs: 200, maxMs: 30_000 }
/** Timeout of a watch, up to doubled at random so that not all watches end at once. */
const WATCH_SECONDS = 300
/** A watch without any event for this long is dead: bookmarks come more often. */
const SILENCE_MS = 150_000

/**
 * Keeps a store equal to a collection of the API server, as in client-go: lists it in pages, then watches it. Recovers
 * from lost connections, watch timeouts, an overloaded server and expired versions (410).
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #receivedAtMs: number
  /** Empty: the collection must be listed. */
  #version = ''
  /** The last response was that the version has expired. */
  #isVersionExpired = false
  /** Whether the current watch has received anything. */
  #hasReceived = false
  /** Ends the current watch, or the pause before the next one, for a refresh. */
  #interrupting = new AbortController()
  /** Called when the store is complete from a list that began after a refresh was requested. */
  #onRefreshed: (() => void)[] = []

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#receivedAtMs = options.clock.monotonicMs()
  }

  /** The path, and the time since something was last received. */
  watchState(): { readonly path: string; readonly silentMs: number } {
    const { path, clock } = this.#options
    return { path, silentMs: clock.monotonicMs() - this.#receivedAtMs }
  }

  /** Resolves when the store is complete; retries until then. Rejects without the permission. */
  start(): Promise<void> {
    const listed = this.#listUntilDone()
    this.#running = listed.then(
      () => this.#listAndWatch(),
      () => undefined,
    )
    return listed
  }

  /**
   * Lists the collection again. Resolves when the store is as new as this call: a watch may have been silent for minutes. To be
   * called after `start` has resolved; does not resolve after `stop`.
   */
  refresh(): Promise<void> {
    return new Promise((resolve) => {
      this.#onRefreshed.push(resolve)
      this.#interrupting.abort(new Error('refresh'))
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #listUntilDone(): Promise<void> {
    for (let attempt = 0; !this.#stopping.signal.aborted; attempt++) {
      try {
        return await this.#list()
      } catch (error) {
        if (this.#stopping.signal.aborted) return
        if (!isTransient(error)) throw error
        await this.#pause(error, attempt)
      }
    }
  }

  async #list(): Promise<void> {
    const { api, path, fieldSelector, accept, store } = this.#options
    const objects: T[] = []
    const refreshes = this.#onRefreshed.length
    let page: List<T> | undefined
    do {
      const query = { fieldSelector, limit: PAGE, continue: page?.metadata.continue }
      const { signal } = this.#stopping
      page = await api.send<List<T>>({ method: 'GET', path, query, signal, ...(accept && { accept: accept.list }) })
      for (const object of page.items ?? []) objects.push(withoutManagedFields(object))
    } while (page.metadata.continue)
    if (this.#stopping.signal.aborted) return
    this.#version = page.metadata.resourceVersion
    this.#receivedAtMs = this.#options.clock.monotonicMs()
    store.replace(objects)
    for (const resolve of this.#onRefreshed.splice(0, refreshes)) resolve()
  }

  async #listAndWatch(): Promise<void> {
    for (let attempt = 0; !this.#stopping.signal.aborted; attempt++) {
      this.#interrupting = new AbortController()
      try {
        this.#hasReceived = false
        if (this.#version === '' || this.#onRefreshed.length > 0) await this.#list()
        if (this.#onRefreshed.length > 0) continue
        await this.#watch()
        if (!this.#hasReceived) throw new ApiError(0, 'Ended', 'the API server ended a watch without any event')
        attempt = -1
        this.#isVersionExpired = false
      } catch (error) {
        attempt = await this.#recover(error, this.#hasReceived ? 0 : attempt)
      }
    }
  }

  /** Returns the attempt to continue with. */
  async #recover(error: unknown, attempt: number): Promise<number> {
    if (this.#stopping.signal.aborted) return attempt
    if (this.#interrupting.signal.aborted) return -1
    const { path, onRestart } = this.#options
    onRestart?.(path, error instanceof ApiError ? error.reason : 'Broken')
    const wasVersionExpired = this.#isVersionExpired
    this.#isVersionExpired = isVersionExpired(error)
    if (this.#isVersionExpired) this.#version = ''
    // A server that answers "expired" is available: list at once, but do not loop without a pause.
    if (this.#isVersionExpired && !wasVersionExpired) return -1
    await this.#pause(error, attempt)
    return attempt
  }

  /** Runs one watch until it ends. */
  async #watch(): Promise<void> {
    const { api, path, fieldSelector, accept, clock, random = Math.random } = this.#options
    const query = {
      fieldSelector,
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#version,
      timeoutSeconds: Math.round(WATCH_SECONDS * (1 + random())),
    }
    const ended = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, this.#interrupting.signal, ended.signal])
    this.#receivedAtMs = clock.monotonicMs()
    const watchdog = this.#watchForSilence(signal, () => ended.abort(new Error('silence')))
    try {
      for await (const event of api.watch<Event<T>>({
        method: 'GET',
        path,
        query,
        signal,
        ...(accept && { accept: accept.watch }),
      })) {
        if (this.#stopping.signal.aborted) return
        this.#receivedAtMs = clock.monotonicMs()
        this.#applyEvent(event)
        this.#hasReceived = true
      }
    } finally {
      ended.abort()
      await watchdog
    }
  }

  async #watchForSilence(signal: AbortSignal, onSilence: () => void): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await clock.sleep(SILENCE_MS / 2, signal).catch(() => undefined)
      if (!signal.aborted && clock.monotonicMs() - this.#receivedAtMs > SILENCE_MS) onSilence()
    }
  }

  #applyEvent(event: Event<T>): void {
    if (event.type === 'ERROR') {
      const { code = 0, reason = 'Unknown', message = 'the watch failed' } = event.object
      throw new ApiError(code, reason, message)
    }
    const { store } = this.#options
    if (event.type === 'DELETED') store.remove(event.object)
    else if (event.type !== 'BOOKMARK') store.put(event.object)
    this.#version = event.object.metadata.resourceVersion
  }

  async #pause(error: unknown, attempt: number): Promise<void> {
    const { path, logger, clock, random } = this.#options
    const waitMs = backoffMs(BACKOFF, attempt, random)
    logger.warn({ err: error, path, waitMs }, 'lost the connection to the API server: retrying')
    const signal = AbortSignal.any([this.#stopping.signal, this.#interrupting.signal])
    await clock.sleep(waitMs, signal).catch(() => undefined)
  }
}

/** The managed fields are larger than the rest of an object. They are dropped before all pages are in memory. */
function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** The server no longer has the history since the requested version. */
function isVersionExpired(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired')
}

function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || isVersionExpired(error))
}
