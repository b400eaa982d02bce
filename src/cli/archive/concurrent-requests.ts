import { RequestError } from '../../clients/http.ts'
import type { RegistryClient } from '../../clients/registry.ts'
import { retry } from '../../config/retry.ts'

/** What is worked on at once. */
const CONCURRENCY = 16
const BACKOFF = { firstMs: 100, maxMs: 5_000 }
/** A registry that changes its leader or restarts is waited for. */
const RETRY_TIMEOUT_MS = 30_000

export type ConcurrencyOptions = {
  /** Nothing new is begun once it aborts; what is under way ends first. */
  readonly signal?: AbortSignal
  /** Called after each item. */
  readonly onDone?: () => void
}

/** Works on all items, several at once, and answers in their order. Rejects with the first failure, when all have ended. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
  { signal, onDone }: ConcurrencyOptions = {},
): Promise<readonly Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  const left = items.entries()
  const run = async (): Promise<void> => {
    for (const [at, item] of left) {
      if (failures.length > 0) return
      signal?.throwIfAborted()
      results[at] = await work(item)
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

/** The same registry; a request that may succeed later is made again for a while. */
export function withRetries(client: RegistryClient): RegistryClient {
  type Ask = (...args: readonly unknown[]) => Promise<unknown>
  const calls = Object.entries(client).map(([name, ask]: [string, Ask]) => {
    const again: Ask = (...args) =>
      retry(() => ask(...args), { backoff: BACKOFF, withinMs: RETRY_TIMEOUT_MS, retriable })
    return [name, again]
  })
  return Object.fromEntries(calls) as RegistryClient
}

function retriable(error: unknown): boolean {
  return error instanceof RequestError && error.retriable
}
