import { createHash } from 'node:crypto'
import {
  isPermitted,
  type KubernetesUser,
  type ResourceAttributes,
  userOfToken,
} from '../../clients/kubernetes/access-review.ts'
import type { KubernetesApi } from '../../clients/kubernetes/kubernetes-api.ts'
import type { Clock } from '../../common/clock.ts'
import { mapConcurrently } from '../../common/map-concurrently.ts'
import { API_GROUP } from '../../common/resource-api.ts'
import { pluralOf } from '../resources/custom-resource-definition.ts'
import type { ResourceKind } from '../resources/resource.ts'
import type { RuntimeKind } from '../runtimes.ts'

/** A user of the console, and what this user may read and change. */
export interface Viewer {
  readonly name: string
  /** The namespaces among these whose resources of the kind the user may read. */
  readable(kind: ResourceKind, namespaces: ReadonlySet<string>): Promise<ReadonlySet<string>>
  /** Whether the user may read what resources take from ConfigMaps of a namespace. */
  mayReadConfigMaps(namespace: string): Promise<boolean>
  /**
   * Whether requests that only read may be passed on to runtimes of a kind. `namespaces` are those with resources of the
   * runtime: a user who may read the resources of one of them may reach the runtime.
   */
  mayReach(runtime: RuntimeKind, namespaces: () => ReadonlySet<string>): Promise<boolean>
  /** Whether other requests may be passed on: a runtime has no namespace, so this is a permission for all namespaces. */
  mayChange(runtime: RuntimeKind): Promise<boolean>
  /** Whether requests that read records of topics may be passed on to workers. */
  mayReadRecords(): Promise<boolean>
}

/** Finds the user of a bearer token; undefined if the token is not valid. Rejects when that cannot be found out. */
export type IdentifyViewer = (token: string) => Promise<Viewer | undefined>

/** The resources that declare what a runtime has. */
export const DECLARED_KIND = { worker: 'Connector', registry: 'Subject' } as const satisfies Record<
  RuntimeKind,
  ResourceKind
>

/** The verb on Connectors in all namespaces that permits a user of the console to read records of topics. */
export const READ_RECORDS_VERB = 'readrecords'

/** How long a decision is cached: a revoked permission stays in effect until then. Denials are cached for less time. */
const KEPT_MS = { positive: 30_000, negative: 5_000 }
const ENTRIES_MAX = 10_000
/** Requests to the API server at the same time. Everybody who reaches the listener can send a token. */
const TOKEN_REVIEWS_MAX = 16
const ACCESS_REVIEWS_MAX = 200
/** A user without a permission for all namespaces sees at most so many of them. */
const NAMESPACES_MAX = 500

/** Users are identified, and their permissions checked, by the API server. */
export function kubernetesViewers(api: Pick<KubernetesApi, 'send'>, clock: Clock): IdentifyViewer {
  const users = new ReviewCache<KubernetesUser | undefined>(clock, TOKEN_REVIEWS_MAX)
  const permissions = new ReviewCache<boolean>(clock, ACCESS_REVIEWS_MAX)
  return async (token) => {
    // Only the hash of a token is stored.
    const user = await users.get(hashOf(token), () => userOfToken(api, token))
    return (
      user &&
      new KubernetesViewer(user, (attributes) =>
        permissions.get(hashOf(JSON.stringify([user, attributes])), () => isPermitted(api, user, attributes)),
      )
    )
  }
}

class KubernetesViewer implements Viewer {
  readonly name: string
  readonly #isPermitted: (attributes: ResourceAttributes) => Promise<boolean>

  constructor({ username }: KubernetesUser, permitted: (attributes: ResourceAttributes) => Promise<boolean>) {
    this.name = username
    this.#isPermitted = permitted
  }

  async readable(kind: ResourceKind, namespaces: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    if (await this.#may('list', kind, '')) return namespaces
    const some = [...namespaces].sort().slice(0, NAMESPACES_MAX)
    const allowed = await mapConcurrently(some, (namespace) => this.#may('list', kind, namespace))
    return new Set(some.filter((_, at) => allowed[at]))
  }

  mayReadConfigMaps(namespace: string): Promise<boolean> {
    return this.#isPermitted({ group: '', resource: 'configmaps', verb: 'get', namespace })
  }

  async mayReach(runtime: RuntimeKind, namespaces: () => ReadonlySet<string>): Promise<boolean> {
    const kind = DECLARED_KIND[runtime]
    return (await this.#may('list', kind, '')) || (await this.readable(kind, namespaces())).size > 0
  }

  mayChange(runtime: RuntimeKind): Promise<boolean> {
    return this.#may('update', DECLARED_KIND[runtime], '')
  }

  mayReadRecords(): Promise<boolean> {
    return this.#may(READ_RECORDS_VERB, 'Connector', '')
  }

  #may(verb: string, kind: ResourceKind, namespace: string): Promise<boolean> {
    return this.#isPermitted({ group: API_GROUP, resource: pluralOf(kind), verb, namespace })
  }
}

/** There were too many reviews at the same time. */
export class TooManyReviewsError extends Error {
  override readonly name = 'TooManyReviewsError'
}

type Kept<Decision> = { untilMs: number; readonly decision: Promise<Decision> }

/** Keeps the decisions of the API server for a while. Failures are not kept. */
class ReviewCache<Decision> {
  readonly #clock: Clock
  readonly #concurrencyMax: number
  readonly #kept = new Map<string, Kept<Decision>>()
  #running = 0

  constructor(clock: Clock, concurrencyMax: number) {
    this.#clock = clock
    this.#concurrencyMax = concurrencyMax
  }

  get(key: string, review: () => Promise<Decision>): Promise<Decision> {
    const nowMs = this.#clock.monotonicMs()
    const known = this.#kept.get(key)
    if (known !== undefined && nowMs < known.untilMs) return known.decision
    const decision = this.#run(review)
    this.#kept.delete(key)
    const kept: Kept<Decision> = { untilMs: nowMs + KEPT_MS.positive, decision }
    this.#kept.set(key, kept)
    const [oldest = ''] = this.#kept.size > ENTRIES_MAX ? this.#kept.keys() : []
    this.#kept.delete(oldest)
    decision.then(
      (decided) => {
        if (!decided) kept.untilMs = this.#clock.monotonicMs() + KEPT_MS.negative
      },
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key)
      },
    )
    return decision
  }

  async #run(review: () => Promise<Decision>): Promise<Decision> {
    if (this.#running >= this.#concurrencyMax)
      throw new TooManyReviewsError('too many users and permissions are being checked: try again in 1 s')
    this.#running += 1
    try {
      return await review()
    } finally {
      this.#running -= 1
    }
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
