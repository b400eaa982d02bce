/**
 * Resolves with the result of `work`, or to undefined when `signal` aborts and the work is not done in this turn of the event loop. The
 * work is not cancelled; its result or error is ignored then.
 */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const onAbort = () => void setImmediate(resolve, undefined)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Whether `work` has completed before `signal` aborts. For work with a result that is not needed, or read later. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const isDone = await unlessAborted(
    work.then(() => true),
    signal,
  )
  return isDone === true
}
