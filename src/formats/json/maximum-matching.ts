/**
 * Returns the size of a maximum bipartite matching, computed with breadth-first augmenting paths. `guess` returns a
 * likely partner, which is tried first. `fits` can be expensive and is called only when necessary.
 */
export function maximumMatching(sides: {
  readonly left: number
  readonly right: number
  readonly guess: (left: number) => number | undefined
  readonly fits: (left: number, right: number) => boolean
}): number {
  const enough = Math.min(sides.left, sides.right)
  const leftOf = new Array<number>(sides.right).fill(-1)
  const rightOf = new Array<number>(sides.left).fill(-1)
  for (const left of rightOf.keys()) {
    const right = sides.guess(left)
    if (right === undefined || leftOf[right] !== -1 || !sides.fits(left, right)) continue
    leftOf[right] = left
    rightOf[left] = right
  }

  /** Finds an augmenting path from `start` and applies it. Returns false if there is none. */
  const place = (start: number): boolean => {
    const reachedBy = new Array<number>(sides.right).fill(-1)
    const left = [start]
    for (const one of left) {
      for (const right of leftOf.keys()) {
        if (reachedBy[right] !== -1 || !sides.fits(one, right)) continue
        reachedBy[right] = one
        const holder = leftOf[right] ?? -1
        if (holder === -1) {
          move(right, reachedBy)
          return true
        }
        left.push(holder)
      }
    }
    return false
  }
  const move = (end: number, reachedBy: readonly number[]): void => {
    for (let right = end; right !== -1; ) {
      const left = reachedBy[right] ?? -1
      const before = rightOf[left] ?? -1
      leftOf[right] = left
      rightOf[left] = right
      right = before
    }
  }

  let size = rightOf.filter((right) => right !== -1).length
  for (const left of rightOf.keys()) {
    if (size >= enough) break
    if (rightOf[left] === -1 && place(left)) size += 1
  }
  return size
}
