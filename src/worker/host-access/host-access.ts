import type { ClientAccess } from '../../broker/client-access.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { type HostAccess, UNRESTRICTED } from '../../sdk/index.ts'
import { createFileAccess } from './files.ts'
import { createNetworkAccess } from './network.ts'
import type { HostAccessPolicy } from './policy.ts'

/** What connectors may use of the machine and the network. `policy` undefined: all that the worker may. */
export function hostAccess(policy: HostAccessPolicy | undefined): HostAccess {
  if (policy === undefined) return UNRESTRICTED
  return { files: createFileAccess(policy.paths), network: createNetworkAccess(policy) }
}

/** The same for a client of Kafka: what the connector itself wrote is restricted, the worker's own settings are not. */
export function clientAccess(access: HostAccess, overrides: RawConfig): ClientAccess {
  const accessOf = (key: string) => (Object.hasOwn(overrides, key) ? access : UNRESTRICTED)
  return {
    readFileSync: (key, path) => accessOf(key).files.readFileSync(path),
    connectOptions: (key, host, port) => accessOf(key).network.connectOptions(host, port),
  }
}
