/** A signal that aborts after a time, or when another signal aborts. */
export type Deadline = {
  readonly signal: AbortSignal
  readonly hasPassed: () => boolean
  /** Releases the timer and the listener. Call it when the work has ended. */
  clear(): void
}

/**
 * Unlike `AbortSignal.timeout` and `AbortSignal.any`, which keep a timer, a signal and weak references for the whole time
 * although the work has ended.
 */
export function startDeadline(ms: number, parent?: AbortSignal): Deadline {
  const controller = new AbortController()
  let hasPassed = false
  const end = (): void => controller.abort(parent?.reason)
  const timer = setTimeout(() => {
    hasPassed = true
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  }, ms)
  timer.unref()
  if (parent?.aborted) end()
  else parent?.addEventListener('abort', end, { once: true })
  return {
    signal: controller.signal,
    hasPassed: () => hasPassed,
    clear() {
      clearTimeout(timer)
      parent?.removeEventListener('abort', end)
    },
  }
}
