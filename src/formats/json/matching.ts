/**
 * The size of a largest set of pairs in which nobody stands twice (augmenting paths). `partners[i]` lists which of the
 * `rightCount` on the right go with the i-th on the left.
 */
export function maximumMatching(partners: readonly (readonly number[])[], rightCount: number): number {
  const leftOf = new Array<number>(rightCount).fill(-1)
  const tryPlace = (left: number, visited: Set<number>): boolean =>
    (partners[left] ?? []).some((right) => {
      if (visited.has(right)) return false
      visited.add(right)
      const holder = leftOf[right] ?? -1
      if (holder >= 0 && !tryPlace(holder, visited)) return false
      leftOf[right] = left
      return true
    })
  return partners.filter((_, left) => tryPlace(left, new Set())).length
}
