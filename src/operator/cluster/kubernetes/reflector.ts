import { ApiError, type KubernetesApi } from '../../../clients/kubernetes/api.ts'
import type { Clock } from '../../../config/clock.ts'
import type { Logger } from '../../../config/logger.ts'
import { backoffMs } from '../../../config/retry.ts'

export type KubernetesObject = {
  readonly metadata: {
    readonly namespace?: string
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly labels?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
}

export type ReflectorOptions<T extends KubernetesObject> = {
  readonly api: KubernetesApi
  /** Of the collection: `/apis/weir.dev/v1alpha1/subjects`. */
  readonly path: string
  /** Only what it selects: `metadata.name=shop`. */
  readonly fieldSelector?: string
  /** Asked for instead of whole objects: as a list, and as an object of the watch. */
  readonly accept?: { readonly list: string; readonly watch: string }
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
  readonly store: Store<T>
  /** Is told each time that the watch has to begin anew, and why: a word. */
  readonly onRestart?: OnWatchRestart
}

export type OnWatchRestart = (path: string, reason: string) => void

/** Where a reflector puts what it sees. Called in order, never after `stop`. */
export interface Store<T extends KubernetesObject> {
  /** Everything that is there; what is missing in it is gone. */
  replace(objects: readonly T[]): void
  put(object: T): void
  remove(object: T): void
}

type List<T> = {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  /** Null in some lists of nothing. */
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
/** The server ends a watch after a time of our choice: so long, and up to twice as long, so that not all end at once. */
const WATCH_SECONDS = 300
/** A watch that says nothing for longer than bookmarks come is dead although nobody closed it. */
const SILENCE_MS = 150_000

/**
 * Keeps a store equal to a collection of the API server: lists it in pages, then follows its changes from there, through
 * cut connections, ends of watches, an overloaded server and versions that it has forgotten (410).
 */
export class Reflector<T extends KubernetesObject> {
  readonly #options: ReflectorOptions<T>
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #heardAtMs: number
  /** Empty: everything has to be listed. */
  #version = ''
  /** The server has answered that it does not know the version any more, and nothing since. */
  #isForgotten = false

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#heardAtMs = options.clock.monotonicMs()
  }

  /** What it follows, and for how long nothing was heard of it. */
  reading(): { readonly path: string; readonly silentMs: number } {
    const { path, clock } = this.#options
    return { path, silentMs: clock.monotonicMs() - this.#heardAtMs }
  }

  /** Resolves when the store has everything; tries for as long as it takes. Rejects when it may not read it. */
  start(): Promise<void> {
    const listed = this.#listUntilDone()
    this.#running = listed.then(
      () => this.#follow(),
      () => undefined,
    )
    return listed
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
    let page: List<T> | undefined
    do {
      const query = { fieldSelector, limit: PAGE, continue: page?.metadata.continue }
      const { signal } = this.#stopping
      page = await api.send<List<T>>({ method: 'GET', path, query, signal, ...(accept && { accept: accept.list }) })
      objects.push(...(page.items ?? []))
    } while (page.metadata.continue)
    if (this.#stopping.signal.aborted) return
    this.#version = page.metadata.resourceVersion
    this.#heardAtMs = this.#options.clock.monotonicMs()
    store.replace(objects)
  }

  async #follow(): Promise<void> {
    for (let attempt = 0; !this.#stopping.signal.aborted; attempt++) {
      try {
        if (this.#version === '') await this.#list()
        if (!(await this.#watch())) throw new ApiError(0, 'Ended', 'the API server ended a watch without a word')
        attempt = -1
        this.#isForgotten = false
      } catch (error) {
        attempt = await this.#recover(error, attempt)
      }
    }
  }

  /** Gives the attempt that this was. */
  async #recover(error: unknown, attempt: number): Promise<number> {
    if (this.#stopping.signal.aborted) return attempt
    const { path, onRestart } = this.#options
    onRestart?.(path, error instanceof ApiError ? error.reason : 'Broken')
    const wasForgotten = this.#isForgotten
    this.#isForgotten = isForgotten(error)
    if (this.#isForgotten) this.#version = ''
    // A server that has forgotten a version is there: again at once, however long it was away, but not in circles.
    if (this.#isForgotten && !wasForgotten) return -1
    await this.#pause(error, attempt)
    return attempt
  }

  /** One watch until it ends; whether it brought anything. */
  async #watch(): Promise<boolean> {
    const { api, path, fieldSelector, accept, clock, random = Math.random } = this.#options
    const query = {
      fieldSelector,
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#version,
      timeoutSeconds: Math.round(WATCH_SECONDS * (1 + random())),
    }
    const ended = new AbortController()
    const signal = AbortSignal.any([this.#stopping.signal, ended.signal])
    this.#heardAtMs = clock.monotonicMs()
    const watchdog = this.#onSilence(signal, () => ended.abort(new Error('silence')))
    let hasHeard = false
    try {
      for await (const event of api.watch<Event<T>>({
        method: 'GET',
        path,
        query,
        signal,
        ...(accept && { accept: accept.watch }),
      })) {
        if (this.#stopping.signal.aborted) return hasHeard
        this.#heardAtMs = clock.monotonicMs()
        this.#take(event)
        hasHeard = true
      }
      return hasHeard
    } finally {
      ended.abort()
      await watchdog
    }
  }

  async #onSilence(signal: AbortSignal, silent: () => void): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      await clock.sleep(SILENCE_MS / 2, signal).catch(() => undefined)
      if (!signal.aborted && clock.monotonicMs() - this.#heardAtMs > SILENCE_MS) silent()
    }
  }

  #take(event: Event<T>): void {
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
    logger.warn({ err: error, path, waitMs }, 'lost the API server: trying again')
    await clock.sleep(waitMs, this.#stopping.signal).catch(() => undefined)
  }
}

/** The server no longer knows what happened since the version asked for. */
function isForgotten(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 410 || error.reason === 'Expired')
}

function isTransient(error: unknown): boolean {
  return error instanceof ApiError && (error.code === 'unreachable' || isForgotten(error))
}
