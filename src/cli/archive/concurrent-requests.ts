import { RequestError } from '../../clients/http-client.ts'
import type { RegistryClient } from '../../clients/registry-client.ts'
import { retry } from '../../common/retry.ts'

const CONCURRENCY = 16
const BACKOFF = { firstMs: 100, maxMs: 5_000 }
/** Long enough for a registry to restart or elect a leader. */
const RETRY_TIMEOUT_MS = 30_000

export type ConcurrencyOptions = {
  /** After it aborts no further item starts; started ones are awaited. */
  readonly signal?: AbortSignal
  /** Called after each item. */
  readonly onDone?: () => void
}

/** Calls `work` for all items, up to 16 at a time. Results are in the order of items. Rejects with the first error after all calls have ended. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  request: (item: Item) => Promise<Result>,
  { signal, onDone }: ConcurrencyOptions = {},
): Promise<readonly Result[]> {
  const results: Result[] = []
  const failures: unknown[] = []
  const remaining = items.entries()
  const run = async (): Promise<void> => {
    for (const [at, item] of remaining) {
      if (failures.length > 0) return
      signal?.throwIfAborted()
      results[at] = await request(item)
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

/** A client that retries requests with retriable errors. */
export function withRetries(client: RegistryClient): RegistryClient {
  type Call = (...args: readonly unknown[]) => Promise<unknown>
  const calls = Object.entries(client).map(([name, call]: [string, Call]) => {
    const retried: Call = (...args) =>
      retry(() => call(...args), { backoff: BACKOFF, withinMs: RETRY_TIMEOUT_MS, retriable })
    return [name, retried]
  })
  return Object.fromEntries(calls) as RegistryClient
}

function retriable(error: unknown): boolean {
  return error instanceof RequestError && error.retriable
}
