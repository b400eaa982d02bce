import type { Resource } from '../resources/resource.ts'

/**
 * Of several resources that claim the same external object, the one that owns it: the one that already does, else the
 * oldest, else the one with the smallest uid.
 */
export function selectOwner<R extends Resource>(
  claimants: readonly R[],
  holds: (resource: R) => boolean,
): R | undefined {
  return [...claimants].sort(
    (a, b) =>
      Number(holds(b)) - Number(holds(a)) ||
      compare(a.metadata.creationTimestamp, b.metadata.creationTimestamp) ||
      compare(a.metadata.uid, b.metadata.uid),
  )[0]
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
