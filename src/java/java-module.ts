import type { HostAddress } from './host-connection.ts'
import type { JavaPluginDescription } from './plugin-location.ts'

/** What a task process needs of a plugin location: its plugins and the address of its host. */
export type JavaModule = {
  /** The path of the location. */
  readonly location: string
  readonly address: HostAddress
  readonly plugins: readonly JavaPluginDescription[]
}
