import type { PluginDescriptor } from '../../../plugins/plugin-descriptor.ts'
import type { ConnectorAccess } from '../../host-access/connector-access.ts'
import type { PluginCall, PluginFailure } from '../../plugin-host.ts'

// Messages between a worker and the process that it starts for a module of plugins.

export type PluginProcessOptions = {
  /** URL of the module; null for the shipped plugins. */
  readonly module: string | null
  /** Memory limit of plugin code in MB, on V8's heap and outside of it. */
  readonly memoryMbMax: number
  /** How long plugin code may run without returning to the event loop, in ms of its own time. */
  readonly blockedMsMax: number
  /** How long the module may take to load, in ms of its own time. */
  readonly loadMsMax: number
  /** What connectors and config providers may use. */
  readonly access: ConnectorAccess
}

export type PluginProcessCall = { readonly id: number; readonly call: PluginCall }

export type PluginProcessMessage =
  | { readonly type: 'loaded'; readonly plugins: readonly PluginDescriptor[] }
  | { readonly type: 'load-failed'; readonly failure: PluginFailure }
  | { readonly type: 'begun'; readonly id: number }
  | { readonly type: 'returned'; readonly id: number; readonly output: unknown }
  | { readonly type: 'threw'; readonly id: number; readonly failure: PluginFailure }

/** Why a process ended. */
export type PluginProcessEnd = {
  readonly code: 'plugin_unresponsive' | 'plugin_crashed'
  /** A predicate whose subject is the plugin. */
  readonly what: string
  /** The call that was running; absent if unknown. */
  readonly id?: number
  /** The call stack at that time, one frame per line. */
  readonly stack?: string
}
