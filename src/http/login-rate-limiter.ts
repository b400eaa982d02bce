import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'

/** Wrong passwords of one name from one address in a window, tried or being tried. */
const ATTEMPTS_MAX = 10
/** Wrong passwords of all names from one address in a window. Past that each name has one attempt. */
const ADDRESS_ATTEMPTS_MAX = 50
const WINDOW_MS = 60_000
/** The table never holds more: hashing passwords takes long enough that a window can't fill it. */
const ENTRIES_MAX = 20_000

type Entry = { attempts: number; readonly sinceMs: number }

/**
 * Bounds how often passwords can be guessed: by name and address, so that an attack on one user does not lock out
 * others behind the same proxy. An attempt counts from its beginning, so that many at once are bounded, too. Who guesses
 * one password for many names is slowed down to one attempt a name.
 */
export class LoginRateLimiter {
  readonly #entries = new Map<string, Entry>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Seconds until this name may be tried from this address; 0: now. */
  waitSeconds(address: string, name: string): number {
    this.#dropExpired()
    const key = keyOf(address, name)
    const fromAddress = this.#entries.get(networkOf(address))
    const max = (fromAddress?.attempts ?? 0) < ADDRESS_ATTEMPTS_MAX ? ATTEMPTS_MAX : 1
    const entry = this.#entries.get(key)
    if (entry && entry.attempts >= max) return Math.ceil((entry.sinceMs + WINDOW_MS - this.#nowMs()) / 1_000)
    // A full table is not emptied: that would let everybody begin anew.
    return !entry && this.#entries.size >= ENTRIES_MAX ? 1 : 0
  }

  /** Counts an attempt that begins. The result takes it back, for an attempt that was no wrong password. */
  begin(address: string, name: string): () => void {
    const counted = [networkOf(address), keyOf(address, name)].map((key) => this.#entryOf(key))
    for (const entry of counted) entry.attempts += 1
    return () => {
      for (const entry of counted) entry.attempts -= 1
    }
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key)
    if (known) return known
    const entry: Entry = { attempts: 0, sinceMs: this.#nowMs() }
    this.#entries.set(key, entry)
    return entry
  }

  /** Entries are in the order of their beginning. */
  #dropExpired(): void {
    for (const [key, { sinceMs }] of this.#entries) {
      if (this.#nowMs() - sinceMs < WINDOW_MS) return
      this.#entries.delete(key)
    }
  }
}

/** Of bounded length, whatever name was sent. */
function keyOf(address: string, name: string): string {
  return createHash('sha256')
    .update(`${networkOf(address)}\0${name}`)
    .digest('base64')
}

/** An IPv6 client owns a network of 64 bits, and so as many addresses as it likes. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [head = '', tail = ''] = address.split('%', 1)[0]!.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  const groups = address.includes('::') ? [...before, ...zeros, ...after] : before
  return `${groups.slice(0, 4).join(':')}::/64`
}
