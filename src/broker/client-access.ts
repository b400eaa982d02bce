import { readFileSync } from 'node:fs'
import type { LookupFunction } from 'node:net'

/** How a client reaches the files and the hosts that its configuration names. `key` is the one that names them. */
export type ClientAccess = {
  /** Throws when the file can't be read, or may not be. */
  readFileSync(key: string, path: string): Buffer
  /** Options for a connection. Throws when it may not be made. */
  connectOptions(
    key: 'bootstrap.servers' | 'sasl.oauthbearer.token.endpoint.url',
    host: string,
    port: number,
  ): { readonly lookup?: LookupFunction }
}

/** As the process itself may. */
export const UNRESTRICTED_CLIENT: ClientAccess = {
  readFileSync: (_key, path) => readFileSync(path),
  connectOptions: () => ({}),
}
