import type { Clock } from '../../common/clock.ts'
import type { ResourceKey } from '../resources/resource.ts'

/** Since when each resource has been failing, or in a transient state. */
export class FailureTimes {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #sinceMs = new Map<ResourceKey, number>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Records a failure. Returns how long the resource has been failing: 0 for the first failure. */
  record(key: ResourceKey): number {
    const nowMs = this.#clock.monotonicMs()
    const sinceMs = this.#sinceMs.get(key) ?? nowMs
    this.#sinceMs.set(key, sinceMs)
    return nowMs - sinceMs
  }

  /** Called when the resource was reconciled without a failure, or no longer exists. */
  forget(key: ResourceKey): void {
    this.#sinceMs.delete(key)
  }
}
