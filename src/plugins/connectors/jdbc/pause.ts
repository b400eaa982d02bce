/** The maximum of a timer of Node.js. A timer with a larger value fires at once, and an interval all the time. */
export const TIMER_MS_MAX = 2 ** 31 - 1

/** Resolves after `ms`, or when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  let leftMs = ms
  do {
    await untilTimer(Math.min(leftMs, TIMER_MS_MAX), signal)
    leftMs -= TIMER_MS_MAX
  } while (leftMs > 0 && !signal.aborted)
}

async function untilTimer(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
