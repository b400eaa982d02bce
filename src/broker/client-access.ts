import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'

/** Access of a client to the files and hosts that its configuration names. `key` is the configuration key. */
export type ClientAccess = {
  /** Throws when the file cannot be read or access is denied. */
  readFileSync(key: string, path: string): Buffer
  /** Options for a connection; `port` is that of a tunnel to the server. Throws when the connection is denied. */
  connectOptions(
    key: 'bootstrap.servers' | 'sasl.oauthbearer.token.endpoint.url',
    host: string,
    port: number,
  ): { readonly lookup?: LookupFunction; readonly port?: number }
  /** Throws if the client may not log in with the identity of the machine, because it is requested by one of these keys. */
  useMachineIdentity(keys: readonly string[]): void
}

/** Access with the rights of the process. */
export const UNRESTRICTED_CLIENT: ClientAccess = {
  readFileSync: (_key, path) => readFileSync(path),
  connectOptions: () => ({}),
  useMachineIdentity: () => undefined,
}
