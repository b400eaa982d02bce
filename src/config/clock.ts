/** Time, as far as a decision depends on it; tests bring their own. */
export interface Clock {
  /** Milliseconds since 1970. May jump. */
  nowMs(): number
  /** Milliseconds since some moment. Never goes back. */
  monotonicMs(): number
  /** Resolves after `ms`, but 24 days at most, or rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** Node's timers take no more, and fire at once when asked for it. */
const SLEEP_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep,
}

/** Node's own makes an error with a stack of each sleep that is cut short, which most are that only bound a call. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', end)
        resolve()
      },
      Math.min(ms, SLEEP_MS_MAX),
    )
    signal?.addEventListener('abort', end, { once: true })
  })
}
