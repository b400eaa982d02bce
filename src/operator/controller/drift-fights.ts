import type { Clock } from '../../common/clock.ts'
import type { ObservedCondition } from '../resources/condition.ts'
import type { Resource, ResourceKind } from '../resources/resource.ts'

const WINDOW_MS = 600_000
const CORRECTIONS_MAX = 3
const TRUCE_MS = 300_000

/**
 * Detects that another client keeps reverting a correction of drift. A resource that was corrected three times within
 * ten minutes is corrected every five minutes only, and reports `DriftFight` in between.
 */
export class DriftFights<Key> {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  /** Times of the corrections within the window. */
  readonly #corrections = new Map<Key, readonly number[]>()

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  recordCorrection(key: Key): void {
    this.#corrections.set(key, [...this.#recent(key), this.#clock.monotonicMs()])
  }

  /** How long corrections are suppressed; 0: the resource may be corrected now. */
  suppressedForMs(key: Key): number {
    const recent = this.#recent(key)
    const last = recent.at(-1)
    if (last === undefined || recent.length < CORRECTIONS_MAX) return 0
    return Math.max(0, last + TRUCE_MS - this.#clock.monotonicMs())
  }

  forget(key: Key): void {
    this.#corrections.delete(key)
  }

  #recent(key: Key): readonly number[] {
    const sinceMs = this.#clock.monotonicMs() - WINDOW_MS
    return (this.#corrections.get(key) ?? []).filter((atMs) => atMs > sinceMs)
  }
}

/** The resource with `driftPolicy: Report`. */
export function withDriftReported<K extends ResourceKind>(resource: Resource<K>): Resource<K> {
  return { ...resource, spec: { ...resource.spec, driftPolicy: 'Report' } }
}

/** The condition of a drift whose correction is suppressed. */
export function toDriftFight(finding: ObservedCondition): ObservedCondition {
  if (finding.reason !== 'Drifted') return finding
  const message = `${finding.message}; it was corrected ${CORRECTIONS_MAX} times in ${WINDOW_MS / 60_000} minutes: another client keeps changing it`
  return { ...finding, reason: 'DriftFight', message }
}
