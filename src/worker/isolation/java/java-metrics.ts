import type { HostAddress } from '../../../java/host-connection.ts'
import { HostConnection } from '../../../java/host-connection.ts'
import type { PluginMetric } from '../../observability/plugin-metrics.ts'

const TIMEOUT_MS = 2_000
const FRAME_BYTES_MAX = 32 * 1024 * 1024

/** The metrics that the plugins in these hosts have registered. A host that does not respond in time has none. */
export async function readJavaMetrics(addresses: readonly HostAddress[]): Promise<readonly PluginMetric[]> {
  const read = await Promise.all(addresses.map((address) => readHost(address).catch(() => [])))
  return read.flat()
}

async function readHost(address: HostAddress): Promise<readonly PluginMetric[]> {
  const connection = await HostConnection.open(address, { timeoutMs: TIMEOUT_MS, frameBytesMax: FRAME_BYTES_MAX })
  const late = setTimeout(() => connection.close(), TIMEOUT_MS)
  try {
    return (await connection.call('metrics', {})) as readonly PluginMetric[]
  } finally {
    clearTimeout(late)
    connection.close()
  }
}
