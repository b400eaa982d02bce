import { isDeepStrictEqual } from 'node:util'
import type { ResourceKind, ResourceStatus } from '../resources/resource.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * The status that a reconcile has computed from the status `read`, where `stored` has replaced that one meanwhile, such as by a write of an earlier
 * reconcile that arrived late. A field that the reconcile has not changed stays as it is stored: it may record what is done
 * only once. The conditions are those of the reconcile, which has observed them later.
 */
export function mergeStatus<K extends ResourceKind>(
  computed: ResourceStatus[K],
  read: ResourceStatus[ResourceKind],
  stored: ResourceStatus[ResourceKind],
): ResourceStatus[K] {
  const { observedGeneration, conditions } = computed
  return { ...mergeFields(computed, read, stored), observedGeneration, conditions } as ResourceStatus[K]
}

function mergeFields(computed: Fields, read: Fields, stored: Fields): Fields {
  const names = new Set([...Object.keys(computed), ...Object.keys(stored)])
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const merged = mergeField(computed[name], read[name], stored[name])
      return merged === undefined ? [] : [[name, merged]]
    }),
  )
}

function mergeField(computed: unknown, read: unknown, stored: unknown): unknown {
  if (isDeepStrictEqual(computed, read)) return stored
  return isFields(computed) && isFields(read) && isFields(stored) ? mergeFields(computed, read, stored) : computed
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
