import type { ClientAccess } from '../../broker/client-access.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { type HostAccess, UNRESTRICTED } from '../../sdk/index.ts'
import { createFileAccess } from './file-access.ts'
import { type HostAccessPolicy, notAllowed } from './host-access-policy.ts'
import { createNetworkAccess } from './network-access.ts'

/** The access of connectors to files and network. Unrestricted if `policy` is undefined. */
export function hostAccess(policy: HostAccessPolicy | undefined): HostAccess {
  if (policy === undefined) return UNRESTRICTED
  return { files: createFileAccess(policy.paths), network: createNetworkAccess(policy) }
}

/**
 * The access of a Kafka client: restricted for keys that the connector overrides, unrestricted for the worker's
 * settings.
 */
export function clientAccess(access: HostAccess, overrides: RawConfig): ClientAccess {
  const accessOf = (key: string) => (Object.hasOwn(overrides, key) ? access : UNRESTRICTED)
  return {
    readFileSync: (key, path) => accessOf(key).files.readFileSync(path),
    connectOptions: (key, host, port) => accessOf(key).network.connectOptions(host, port),
    useMachineIdentity: (keys) => {
      const denied = keys.find((key) => accessOf(key) !== UNRESTRICTED)
      if (denied === undefined) return
      throw notAllowed(
        `${denied}: a connector may not use the identity of the worker's machine at AWS: expected the login of the worker, or a password`,
      )
    },
  }
}
