import type { HostConnection } from './host-connection.ts'

/** Timeout of stopping a task in the host, in ms. The host has shorter timeouts for `poll` and `stop`. */
const STOP_TIMEOUT_MS = 4_500

/** Waits for `work`, but resolves to false when `signal` aborts, because plugin code may never return. */
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

/** Stops a task and closes its connection, even if `stop` fails; the host logs that error. */
export async function stopTask(connection: HostConnection, operation: 'source.stop' | 'sink.stop'): Promise<void> {
  const late = setTimeout(() => connection.close(), STOP_TIMEOUT_MS)
  await connection.request(operation).catch(() => undefined)
  clearTimeout(late)
  connection.close()
}
