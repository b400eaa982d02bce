import { setTimeout as delay } from 'node:timers/promises'
import { APPLY_PATCH, type KubernetesApi } from '../../../src/clients/kubernetes/kubernetes-api.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { pluralOf } from '../../../src/operator/resources/custom-resource-definition.ts'
import { API } from '../../support/crds.ts'
import type { Declared } from './objects.ts'

type Stored = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly generation: number }
  readonly status?: {
    readonly observedGeneration: number
    readonly conditions?: readonly { readonly type: string; readonly status: string }[]
  }
}
type WatchEvent = { readonly type: string; readonly object: Stored }
type Waiter = { readonly isDone: () => boolean; readonly resolve: () => void }

const LANES = 8
const TELL_MS = 5_000

/** A namespace in which the benchmark declares resources and observes when they become Ready. */
export class Place {
  readonly namespace: string
  readonly #api: KubernetesApi
  readonly #ending = new AbortController()
  /** The generation for which a resource is Ready, by `Kind/name`. */
  readonly #ready = new Map<string, number>()
  readonly #waiters = new Set<Waiter>()

  constructor(api: KubernetesApi, namespace: string) {
    this.#api = api
    this.namespace = namespace
  }

  async open(): Promise<void> {
    await this.#api.send({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: this.namespace } } })
    for (const kind of ['Subject', 'Connector'] as const) void this.#follow(this.#pathOf(kind))
  }

  /** Applies the resource and returns its new generation. */
  async declare({ kind, name, spec }: Declared): Promise<number> {
    const body = { apiVersion: API_VERSION, kind, metadata: { name }, spec }
    const path = `${this.#pathOf(kind)}/${name}`
    const query = { fieldManager: 'bench', force: true }
    const stored = await this.#api.send<Stored>({ method: 'PATCH', path, query, body, contentType: APPLY_PATCH })
    return stored.metadata.generation
  }

  async declareAll(objects: readonly Declared[]): Promise<void> {
    const left = [...objects].reverse()
    const lane = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) await this.declare(next)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  /** Calls `tell` every few seconds with the number of Ready resources. Rejects after `limitMs`. */
  async untilAllReady(count: number, limitMs: number, tell: (ready: number, ms: number) => void): Promise<void> {
    const beganMs = performance.now()
    const telling = setInterval(() => tell(this.#ready.size, performance.now() - beganMs), TELL_MS)
    const ended = new AbortController()
    const late = delay(limitMs, undefined, { signal: ended.signal }).then(
      () => Promise.reject(new Error(`${this.#ready.size} of ${count} are Ready after ${limitMs} ms`)),
      () => undefined,
    )
    try {
      await Promise.race([this.#until(() => this.#ready.size >= count), late])
      tell(count, performance.now() - beganMs)
    } finally {
      clearInterval(telling)
      ended.abort()
    }
  }

  /** Applies the resource and returns the time until it is Ready, in ms. */
  async timeToReady(declared: Declared): Promise<number> {
    const fromMs = performance.now()
    const generation = await this.declare(declared)
    await this.#until(() => (this.#ready.get(`${declared.kind}/${declared.name}`) ?? 0) >= generation)
    return performance.now() - fromMs
  }

  close(): void {
    this.#ending.abort()
  }

  #pathOf(kind: Declared['kind']): string {
    return `${API}/namespaces/${this.namespace}/${pluralOf(kind)}`
  }

  async #follow(path: string): Promise<void> {
    const { signal } = this.#ending
    try {
      const query = { watch: true, timeoutSeconds: 3_600 }
      for await (const event of this.#api.watch<WatchEvent>({ method: 'GET', path, query, signal })) this.#hear(event)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #hear({ object: { kind, metadata, status } }: WatchEvent): void {
    const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
    const key = `${kind}/${metadata.name}`
    if (isReady && status?.observedGeneration === metadata.generation) this.#ready.set(key, metadata.generation)
    else this.#ready.delete(key)
    for (const waiter of this.#waiters) if (waiter.isDone()) waiter.resolve()
  }

  #until(isDone: () => boolean): Promise<void> {
    if (isDone()) return Promise.resolve()
    return new Promise((resolve) => {
      const waiter: Waiter = {
        isDone,
        resolve: () => {
          this.#waiters.delete(waiter)
          resolve()
        },
      }
      this.#waiters.add(waiter)
    })
  }
}
