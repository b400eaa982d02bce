import type { Clock } from '../../config/clock.ts'
import { findCondition } from '../resources/condition.ts'
import {
  type Resource,
  type ResourceKey,
  type ResourceKind,
  type ResourceStatus,
  resourceKeyOf,
} from '../resources/resource.ts'

/** What follows later than that is too late to wait for. */
const HOLD_MS = 3_000

type Held = { readonly uid: string; readonly status: ResourceStatus[ResourceKind]; readonly sinceMs: number }

/**
 * Statuses that say only that something is under way: the one that follows within a moment is written instead. Until then
 * this process alone knows them; whoever comes after it finds things as if it had died before it wrote.
 */
export class DeferredStatuses {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #held = new Map<ResourceKey, Held>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** The resource as it would be had its status been written. */
  withDeferredStatus<K extends ResourceKind>(resource: Resource<K>): Resource<K> {
    const held = this.#held.get(resourceKeyOf(resource))
    return held?.uid === resource.metadata.uid ? { ...resource, status: held.status as ResourceStatus[K] } : resource
  }

  /** False: it has to be written now. What people see as Ready must not stay so. */
  defer<K extends ResourceKind>(stored: Resource<K>, status: ResourceStatus[K]): boolean {
    const key = resourceKeyOf(stored)
    const { uid } = stored.metadata
    const nowMs = this.#clock.monotonicMs()
    const before = this.#held.get(key)
    const sinceMs = before?.uid === uid ? before.sinceMs : nowMs
    const isReady = findCondition(stored.status.conditions, 'Ready')?.status === 'True'
    if (isReady || nowMs - sinceMs >= HOLD_MS) return false
    this.#held.set(key, { uid, status, sinceMs })
    return true
  }

  /** It was written, or its resource is gone. */
  forget(key: ResourceKey): void {
    this.#held.delete(key)
  }
}
