import type { HostAddress } from './host-connection.ts'
import type { JavaPluginDescription } from './plugin-location.ts'

/** A plugin location as threads with tasks see it: its plugins, and where its host listens while a task needs it. */
export type JavaModule = {
  /** The path of the location. */
  readonly location: string
  readonly address: HostAddress
  readonly plugins: readonly JavaPluginDescription[]
}

/** How long a host may take to accept a connection, in ms. It is running when a task that needs it starts. */
export const CONNECT_TIMEOUT_MS = 10_000
