import type { HostAddress } from './host-connection.ts'
import type { JavaPluginDescription } from './plugin-location.ts'

/** What a task thread needs of a plugin location: its plugins and the address of its host. */
export type JavaModule = {
  /** The path of the location. */
  readonly location: string
  readonly address: HostAddress
  readonly plugins: readonly JavaPluginDescription[]
}

/** Timeout of a connection to a host, in ms. The host is already running when a task starts. */
export const CONNECT_TIMEOUT_MS = 10_000
