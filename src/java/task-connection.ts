import type { HostConnection } from './host-connection.ts'

/** How long a host may take to stop a task, in ms. Its own limits for `poll` and `stop` are below. */
const STOP_TIMEOUT_MS = 4_500

/** Resolves to false when the task was told to stop first: plugin code that does not return must not hold it up. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  const aborted = Promise.withResolvers<boolean>()
  const onAbort = () => aborted.resolve(false)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work.then(() => true), aborted.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Ends a task and its connection, however the task takes it. The host logs what its `stop` threw. */
export async function stopTask(connection: HostConnection, operation: 'source.stop' | 'sink.stop'): Promise<void> {
  const late = setTimeout(() => connection.close(), STOP_TIMEOUT_MS)
  await connection.request(operation).catch(() => undefined)
  clearTimeout(late)
  connection.close()
}
