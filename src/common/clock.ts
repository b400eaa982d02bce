/** Source of the current time and of delays. Tests use a fake clock. */
export interface Clock {
  /** Milliseconds since the epoch. May jump. */
  nowMs(): number
  /** Milliseconds since an arbitrary moment. Monotonic. */
  monotonicMs(): number
  /** Resolves after `ms` (at most 24 days). Rejects with the reason of the signal if it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The reason for which a `sleep` is ended that nobody needs any more. Without a reason, every abort creates an error with a stack. */
export const WAIT_ENDED = new Error('the wait has ended')

/** The maximum of Node's timers; a larger value fires immediately. */
const SLEEP_MS_MAX = 2 ** 31 - 1

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep,
}

/**
 * Node's own `setTimeout` promise creates an error with a stack for each aborted sleep, which is the common case for
 * timeouts.
 */
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
