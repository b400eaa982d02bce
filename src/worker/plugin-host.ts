import type { Catalog } from '../plugins/catalog.ts'
import type { PluginDescriptor } from '../plugins/descriptor.ts'
import type { ConfigValue, Position, RawConfig } from '../sdk/index.ts'
import { WorkerError } from './model/worker-error.ts'

export type PluginCatalog = Catalog<PluginDescriptor>

/** Which plugin a call is for. */
export type PluginName = Pick<PluginDescriptor, 'kind' | 'class' | 'version'>

/** What the code of plugins is called for outside of a task: `input` and `output` are plain data. */
type Calls = {
  /** Parses a configuration of the plugin's own keys: the value of each key and what is wrong with it. */
  'validate-config': { readonly input: { readonly config: RawConfig }; readonly output: readonly ConfigValue[] }
  /** Calls `tasks()` and `tasksAgainMs()` of a connector. */
  'make-tasks': {
    readonly input: { readonly config: RawConfig; readonly tasksMax: number }
    readonly output: GeneratedTaskConfigs
  }
  /** Calls `alterOffsets()` of a source. */
  'alter-offsets': {
    readonly input: { readonly config: RawConfig; readonly offsets: readonly SourceOffsetChange[] }
    readonly output: null
  }
  /** Creates a config provider, to find out whether its configuration is right. */
  'create-provider': { readonly input: { readonly config: RawConfig }; readonly output: null }
  /** Reads these keys from a config provider. */
  'read-values': {
    readonly input: { readonly config: RawConfig; readonly path: string; readonly keys: readonly string[] }
    readonly output: Readonly<Record<string, string>>
  }
}

export type PluginOperation = keyof Calls
export type PluginInput<Operation extends PluginOperation> = Calls[Operation]['input']
export type PluginOutput<Operation extends PluginOperation> = Calls[Operation]['output']

/** One call, as it is sent to where the plugin is loaded. */
export type PluginCall = {
  [Operation in PluginOperation]: {
    readonly operation: Operation
    readonly plugin: PluginName
    readonly input: PluginInput<Operation>
  }
}[PluginOperation]

export type GeneratedTaskConfigs = {
  readonly configs: readonly RawConfig[]
  /** When to make them again; null: when the configuration changes. */
  readonly againMs: number | null
}

export type SourceOffsetChange = { readonly partition: Position | null; readonly offset: Position | null }

/**
 * Runs the code of plugins outside of tasks. A call rejects with a `WorkerError`: `plugin_failed` when the code throws, and
 * the other codes of `plugin_…` when it does not return.
 */
export interface PluginHost {
  /** Every plugin that can be used. */
  readonly catalog: PluginCatalog
  call<Operation extends PluginOperation>(
    operation: Operation,
    plugin: PluginName,
    input: PluginInput<Operation>,
  ): Promise<PluginOutput<Operation>>
}

/** What plugin code threw, as text. */
export type PluginFailure = { readonly message: string; readonly trace: string }

/** The trace of the plugin's code takes the place of the stack, which would only show the worker's. */
export function pluginError(
  code: 'plugin_failed' | 'plugin_unresponsive' | 'plugin_crashed' | 'plugins_busy',
  { message, trace }: PluginFailure,
): WorkerError {
  const error = new WorkerError(code, message)
  error.stack = trace
  return error
}
