import { RequestError } from '../../clients/http-client.ts'
import type { RegistryClient } from '../../clients/registry-client.ts'
import { retry } from '../../common/retry.ts'

const BACKOFF = { firstMs: 100, maxMs: 5_000 }
/** Long enough for a registry to restart or elect a leader. */
const RETRY_TIMEOUT_MS = 30_000

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
