import type { Clock } from '../../common/clock.ts'
import { findCondition } from '../resources/condition.ts'
import {
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKeyOf,
} from '../resources/resource.ts'
import { mergeStatus } from './merge-status.ts'

/** The longest time for which a status stays unwritten. */
const HOLD_MS = 3_000

type Held = {
  readonly uid: string
  readonly status: ResourceStatus[ResourceKind]
  /** The stored status when this one was deferred. */
  readonly stored: ResourceStatus[ResourceKind]
  readonly sinceMs: number
}

/**
 * Statuses of a short intermediate state that are not written, because another status follows at once. Only this
 * process knows them: to the next leader it looks as if this process had ended before the write.
 */
export class DeferredStatuses {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #held = new Map<ResourceKey, Held>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** The resource with its deferred status, as if it had been written. */
  withDeferredStatus<K extends ResourceKind>(resource: Resource<K>): Resource<K> {
    const held = this.#held.get(resourceKeyOf(resource)) as (Held & { readonly status: ResourceStatus[K] }) | undefined
    if (held?.uid !== resource.metadata.uid) return resource
    return { ...resource, status: mergeStatus(held.status, held.stored, resource.status) }
  }

  /** False when the status must be written now: a resource that is stored as Ready must not stay so. */
  defer<K extends ResourceKind>(stored: Resource<K>, status: ResourceStatus[K]): boolean {
    const key = resourceKeyOf(stored)
    const { uid } = stored.metadata
    const nowMs = this.#clock.monotonicMs()
    const before = this.#held.get(key)
    const sinceMs = before?.uid === uid ? before.sinceMs : nowMs
    const isReady = findCondition(stored.status.conditions, 'Ready')?.status === 'True'
    if (isReady || nowMs - sinceMs >= HOLD_MS) return false
    this.#held.set(key, { uid, status, stored: stored.status, sinceMs })
    return true
  }

  /** Called when a status was written, or the resource no longer exists. */
  forget(key: ResourceKey): void {
    this.#held.delete(key)
  }
}
