import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../src/common/clock.ts'

type Sleeper = { readonly atMs: number; readonly wake: () => void }

/** A clock that advances only when the test calls `advance`. */
export class FakeClock implements Clock {
  #nowMs: number
  readonly #startMs: number
  readonly #sleepers = new Set<Sleeper>()
  #jumpedMs = 0

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
    this.#startMs = startMs
  }

  nowMs(): number {
    return this.#nowMs + this.#jumpedMs
  }

  /** Changes the wall clock only; the monotonic clock does not advance. */
  jump(ms: number): void {
    this.#jumpedMs += ms
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const wake = () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      const sleeper = { atMs: this.#nowMs + ms, wake }
      const abort = () => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#sleepers.add(sleeper)
    })
  }

  /** Advances by `ms`. Sleepers are woken in order, and each one's work is completed before the next one is woken. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    for (;;) {
      await settle()
      const next = [...this.#sleepers].sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined || next.atMs > untilMs) break
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      this.#sleepers.delete(next)
      next.wake()
    }
    this.#nowMs = untilMs
    await settle()
  }
}

/** Waits a few turns of the event loop, so that work started by a woken sleeper in this process is completed. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn()
}
