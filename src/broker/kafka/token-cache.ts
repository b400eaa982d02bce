import type { Clock } from '../../common/clock.ts'
import { isTransient } from '../broker-error.ts'

export type IssuedToken = { readonly value: string; readonly lifetimeMs: number }

/** Fraction of the lifetime of a token after which it is renewed: before a connection logs in again with it. */
const RENEWAL_FRACTION = 0.8

/**
 * Requests a token when the previous one is to be renewed, once for all connections that ask meanwhile. A token that is still
 * valid is used longer when none can be had.
 */
export function cachedToken(request: () => Promise<IssuedToken>, clock: Clock): () => Promise<string> {
  let current: { readonly value: string; readonly renewMs: number; readonly endMs: number } | undefined
  let pending: Promise<string> | undefined
  const renew = async () => {
    const { value, lifetimeMs } = await request()
    const nowMs = clock.monotonicMs()
    current = { value, renewMs: nowMs + lifetimeMs * RENEWAL_FRACTION, endMs: nowMs + lifetimeMs }
    return value
  }
  return async () => {
    if (current && clock.monotonicMs() < current.renewMs) return current.value
    pending ??= renew().finally(() => {
      pending = undefined
    })
    try {
      return await pending
    } catch (error) {
      if (isTransient(error) && current && clock.monotonicMs() < current.endMs) return current.value
      throw error
    }
  }
}
