import type { HostConnection } from './host-connection.ts'

/** Timeout of stopping a task in the host, in ms. The host has shorter timeouts for `poll` and `stop`. */
const STOP_TIMEOUT_MS = 4_500

/** Stops a task and closes its connection, even if `stop` fails; the host logs that error. */
export async function stopTask(connection: HostConnection, operation: 'source.stop' | 'sink.stop'): Promise<void> {
  const late = setTimeout(() => connection.close(), STOP_TIMEOUT_MS)
  await connection.request(operation).catch(() => undefined)
  clearTimeout(late)
  connection.close()
}
