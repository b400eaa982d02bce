/** How often schemas may be visited for one value: so often for each value in it, and at least `min` times. */
export type VisitLimits = { readonly min: number; readonly perValue: number }

/**
 * Limits how often schemas are visited for a value. A schema that `allOf` names twice is visited twice, and so are its own
 * branches: the number can grow exponentially with the schema.
 */
export class VisitBudget {
  readonly #root: unknown
  readonly #perValue: number
  #left: number
  #isCounted = false

  constructor(root: unknown, { min, perValue }: VisitLimits) {
    this.#root = root
    this.#perValue = perValue
    this.#left = min
  }

  /** Returns false if the budget is spent. */
  spend(): boolean {
    this.#left -= 1
    if (this.#left >= 0) return true
    if (this.#isCounted) return false
    this.#isCounted = true
    this.#left = this.#perValue * countValues(this.#root)
    return this.#left > 0
  }
}

function countValues(root: unknown): number {
  const open = [root]
  let count = 0
  while (open.length > 0) {
    const value = open.pop()
    count += 1
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) continue
    for (const member of Object.values(value)) open.push(member)
  }
  return count
}
