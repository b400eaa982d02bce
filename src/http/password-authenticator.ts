import { FairQueue } from './fair-queue.ts'
import { LoginRateLimiter } from './login-rate-limiter.ts'
import type { Principal, Users } from './users.ts'

/** Maximum concurrent password hashes. libuv has four threads for hashing and files; two stay free. */
const HASHING_MAX = 2

/** `unavailable`: too many logins are being checked. */
export type PasswordOutcome =
  | { readonly kind: 'authenticated'; readonly principal: Principal }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'limited'; readonly waitSeconds: number }
  | { readonly kind: 'unavailable' }

/** Verifies user names and passwords, with limits on guessing and on concurrent hashing. */
export class PasswordAuthenticator {
  readonly #users: Users
  readonly #limits: LoginRateLimiter
  readonly #hashing = new FairQueue(HASHING_MAX)
  /** Checks in progress: concurrent requests with the same password count as one attempt. */
  readonly #pending = new Map<string, Promise<PasswordOutcome>>()

  constructor(users: Users, limits = new LoginRateLimiter()) {
    this.#users = users
    this.#limits = limits
  }

  /** A promise only if the password has to be hashed. */
  check(name: string, password: string, address: string): PasswordOutcome | Promise<PasswordOutcome> {
    const pending = this.#pending.size > 0 ? this.#pending.get(pendingKeyOf(name, password, address)) : undefined
    if (pending !== undefined) return pending
    // Checked before the cache: otherwise a cached password could be guessed without limit.
    const waitSeconds = this.#limits.waitSeconds(address, name)
    if (waitSeconds > 0) return { kind: 'limited', waitSeconds }
    const verified = this.#users.findVerified(name, password)
    if (verified) return { kind: 'authenticated', principal: verified }
    const pendingKey = pendingKeyOf(name, password, address)
    const checking = this.#verify(name, password, address).finally(() => this.#pending.delete(pendingKey))
    this.#pending.set(pendingKey, checking)
    return checking
  }

  async #verify(name: string, password: string, address: string): Promise<PasswordOutcome> {
    const undoAttempt = this.#limits.begin(address, name)
    try {
      const checked = await this.#hashing.run(address, async () => ({
        principal: await this.#users.verify(name, password),
      }))
      if (checked && !checked.principal) return { kind: 'invalid' }
      undoAttempt()
      return checked?.principal ? { kind: 'authenticated', principal: checked.principal } : { kind: 'unavailable' }
    } catch (error) {
      undoAttempt()
      throw error
    }
  }
}

function pendingKeyOf(name: string, password: string, address: string): string {
  return JSON.stringify([address, name, password])
}
