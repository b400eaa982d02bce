const CONCURRENCY = 16

export type ConcurrencyOptions = {
  /** After it aborts no further item starts; started ones are awaited. */
  readonly signal?: AbortSignal
  /** Called after each item. */
  readonly onDone?: () => void
}

/**
 * Calls a function for all items, up to 16 at a time. Results are in the order of the items. Rejects with the first error,
 * after all calls have ended.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  call: (item: Item, at: number) => Promise<Result>,
  { signal, onDone }: ConcurrencyOptions = {},
): Promise<readonly Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  const remaining = items.entries()
  const run = async (): Promise<void> => {
    for (const [at, item] of remaining) {
      if (failures.length > 0) return
      signal?.throwIfAborted()
      results[at] = await call(item, at)
      onDone?.()
    }
  }
  const runs = Array.from({ length: Math.min(CONCURRENCY, items.length) }, () =>
    run().catch((error: unknown) => failures.push(error)),
  )
  await Promise.all(runs)
  if (failures.length > 0) throw failures[0]
  return results
}
