import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'

/** Maximum failed or pending attempts per name and address in a window. */
const ATTEMPTS_MAX = 10
/** Maximum failed attempts per address in a window. Beyond it, each name has one attempt. */
const ADDRESS_ATTEMPTS_MAX = 50
const WINDOW_MS = 60_000
/** Maximum number of entries: only attempts that hash leave one, which is slow enough that a window cannot fill the table. */
const ENTRIES_MAX = 20_000

type Entry = { attempts: number; readonly sinceMs: number }

/**
 * Limits password guessing by name and address, so that an attack on one user does not lock out others behind the same
 * proxy. An attempt counts from its start, which also limits concurrent attempts. A client that tries one password for
 * many names is limited to one attempt per name. The store of `@fastify/rate-limit` forgets the oldest entries when it is
 * full, which would reset limits, and cannot undo an attempt.
 */
export class LoginRateLimiter {
  readonly #entries = new Map<string, Entry>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Seconds until the next attempt for this name from this address; 0: now. */
  waitSeconds(address: string, name: string): number {
    this.#dropExpired()
    if (this.#entries.size === 0) return 0
    const key = keyOf(address, name)
    const fromAddress = this.#entries.get(networkOf(address))
    const max = (fromAddress?.attempts ?? 0) < ADDRESS_ATTEMPTS_MAX ? ATTEMPTS_MAX : 1
    const entry = this.#entries.get(key)
    if (entry && entry.attempts >= max) return Math.ceil((entry.sinceMs + WINDOW_MS - this.#nowMs()) / 1_000)
    // A full table is not cleared: that would reset all limits.
    return !entry && this.#entries.size >= ENTRIES_MAX ? 1 : 0
  }

  /** Counts an attempt. Call the result to undo it if the attempt was not a wrong password. */
  begin(address: string, name: string): () => void {
    const counted = [networkOf(address), keyOf(address, name)].map((key) => ({ key, entry: this.#entryOf(key) }))
    for (const { entry } of counted) entry.attempts += 1
    return () => {
      for (const { key, entry } of counted) {
        entry.attempts -= 1
        // An attempt without hashing, because too many were waiting, must not leave an entry.
        if (entry.attempts === 0 && this.#entries.get(key) === entry) this.#entries.delete(key)
      }
    }
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key)
    if (known) return known
    const entry: Entry = { attempts: 0, sinceMs: this.#nowMs() }
    this.#entries.set(key, entry)
    return entry
  }

  /** Entries are in order of creation. */
  #dropExpired(): void {
    for (const [key, { sinceMs }] of this.#entries) {
      if (this.#nowMs() - sinceMs < WINDOW_MS) return
      this.#entries.delete(key)
    }
  }
}

/** Hashed, so that its length is bounded. */
function keyOf(address: string, name: string): string {
  return createHash('sha256')
    .update(`${networkOf(address)}\0${name}`)
    .digest('base64')
}

/** An IPv6 client owns a /64 network, and any address in it. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [head = '', tail = ''] = address.split('%', 1)[0]!.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = address.includes('::') ? [...before, ...zeros, ...after] : before
  return `${groups.slice(0, 4).join(':')}::/64`
}
