import type { Catalog } from '../plugins/plugin-catalog.ts'
import type { PluginDescriptor } from '../plugins/plugin-descriptor.ts'
import type { ConfigValue, Position, RawConfig } from '../sdk/index.ts'
import { WorkerError } from './model/worker-error.ts'

export type PluginCatalog = Catalog<PluginDescriptor>

/** Identifies the plugin that a call is for. */
export type PluginName = Pick<PluginDescriptor, 'kind' | 'class' | 'version'>

/** The operations on plugins outside of a task. `input` and `output` are plain data. */
type Calls = {
  /**
   * Validates a configuration against the plugin's keys and, with `connects`, against the external system of a connector. Returns
   * the value and the errors of each key. A Java connector decides itself what it connects to.
   */
  'validate-config': {
    readonly input: { readonly config: RawConfig; readonly connects?: boolean }
    readonly output: readonly ConfigValue[]
  }
  /** Calls `tasks()` and `tasksAgainMs()` of a connector. */
  'make-tasks': {
    readonly input: { readonly config: RawConfig; readonly tasksMax: number; readonly run?: ConnectorRun }
    readonly output: GeneratedTaskConfigs
  }
  /** Calls `alterOffsets()` of a connector. The offsets of a sink have the members of Connect's REST API. */
  'alter-offsets': {
    readonly input: { readonly config: RawConfig; readonly offsets: readonly SourceOffsetChange[] }
    readonly output: OffsetAlteration
  }
  /** Asks a source whether it supports a feature of exactly-once delivery with this configuration; null: it does not say. */
  'exactly-once-support': {
    readonly input: { readonly config: RawConfig; readonly feature: ExactlyOnceFeature }
    readonly output: 'supported' | 'unsupported' | null
  }
  /** Creates a config provider, to validate its configuration. */
  'create-provider': { readonly input: { readonly config: RawConfig }; readonly output: null }
  /** Reads these keys from a config provider. */
  'read-values': {
    readonly input: { readonly config: RawConfig; readonly path: string; readonly keys: readonly string[] }
    readonly output: Readonly<Record<string, string>>
  }
  /** Converts stored keys or values to a form that people can read and edit. */
  'decode-payloads': {
    readonly input: ConverterInput & { readonly payloads: readonly StoredPayload[] }
    readonly output: readonly PayloadText[]
  }
  /** Converts an edited key or value to bytes that the converter accepts. */
  'encode-payload': {
    readonly input: ConverterInput & { readonly original: StoredPayload; readonly edited: PayloadEdit }
    readonly output: Uint8Array
  }
  /** Passes records through all converters and transformations that a configuration names, as before a sink, and writes nothing. */
  'preview-records': {
    readonly input: PreviewInput
    readonly output: readonly PipelineOutcome[]
  }
}

export type PreviewInput = {
  /** With resolved placeholders. */
  readonly config: RawConfig
  /** The settings of the worker for converters. */
  readonly workerDefaults: RawConfig
  readonly records: readonly PreviewedStoredRecord[]
}

/** A record as it is stored in its topic. */
export type PreviewedStoredRecord = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly (readonly [name: string, value: Uint8Array | null])[]
}

/** Data of Connect as JSON. */
export type ConnectDataText = {
  readonly text: string
  /** Whether the text is only its beginning. */
  readonly isTruncated: boolean
  /** The type, and the name if it has one; null without a schema. */
  readonly schema: string | null
  /** Why it has no text, such as data that does not match its schema. */
  readonly problem: string | null
}

/** A record between two plugins. */
export type ConnectRecordText = {
  readonly topic: string
  readonly timestampMs: number | null
  readonly key: ConnectDataText
  readonly value: ConnectDataText
  readonly headers: readonly { readonly name: string; readonly value: ConnectDataText }[]
}

/** What the plugins make of one record. */
export type PipelineOutcome = {
  /** What the converters read; null if one of them failed. */
  readonly read: ConnectRecordText | null
  /** What the last transformation returns; null if the record was dropped or failed. */
  readonly result: ConnectRecordText | null
  /** As the headers of a dead letter describe it. */
  readonly failure: {
    readonly stage: string
    readonly className: string
    readonly exceptionClass: string | null
    readonly message: string
  } | null
}

/** A converter as a connector or, unless `isOfConnector`, the worker configures it. */
export type ConverterInput = { readonly config: RawConfig; readonly isKey: boolean; readonly isOfConnector: boolean }

/** A key or value that is not null, as it is stored in the topic. */
export type StoredPayload = { readonly topic: string; readonly bytes: Uint8Array }

/** `json`: the data that the converter reads; `text` and `hex`: the bytes as they are. */
export type PayloadForm = 'json' | 'text' | 'hex'

/** `problem` is why the converter does not accept the bytes. */
export type PayloadText = { readonly form: PayloadForm; readonly text: string; readonly problem: string | null }
export type PayloadEdit = { readonly form: PayloadForm; readonly text: string }

export type PluginOperation = keyof Calls
export type PluginInput<Operation extends PluginOperation> = Calls[Operation]['input']
export type PluginOutput<Operation extends PluginOperation> = Calls[Operation]['output']

/** One call, as sent to the process that has loaded the plugin. */
export type PluginCall = {
  [Operation in PluginOperation]: {
    readonly operation: Operation
    readonly plugin: PluginName
    readonly input: PluginInput<Operation>
  }
}[PluginOperation]

/** One run of a connector, from its start to its stop. A plugin that stays started meanwhile is started anew for another run. */
export type ConnectorRun = number

export type GeneratedTaskConfigs = {
  readonly configs: readonly RawConfig[]
  /** The Java class of the tasks. Default: derived from that of the connector. */
  readonly taskClass?: string
  /**
   * The interval in ms after which the configurations are generated anew; null if only a configuration change requires
   * that.
   */
  readonly againMs: number | null
}

/** Exactly-once delivery as such (`exactlyOnceSupport`), or transactions that the connector delimits itself. */
export type ExactlyOnceFeature = 'delivery' | 'transaction-boundaries'

/**
 * What a connector did with changed offsets: it accepts them (`altered`), does not look at them and may keep offsets of its
 * own (`ignored`), or permits no changes (`unsupported`).
 */
export type OffsetAlteration = 'altered' | 'ignored' | 'unsupported'

export type SourceOffsetChange = { readonly partition: Position | null; readonly offset: Position | null }

/**
 * Executes plugin code outside of tasks. A call rejects with a `WorkerError`: `plugin_failed` when the code throws,
 * another `plugin_…` or `plugins_busy` code when it does not return.
 */
export interface PluginHost {
  /** All available plugins. */
  readonly catalog: PluginCatalog
  /**
   * A call has the time limit of a request. With `signal` it has none, as `start()` has none in Kafka Connect: it is given up when the
   * signal aborts, such as when its connector is stopped.
   */
  call<Operation extends PluginOperation>(
    operation: Operation,
    plugin: PluginName,
    input: PluginInput<Operation>,
    signal?: AbortSignal,
  ): Promise<PluginOutput<Operation>>
}

/** What plugin code threw, as text. */
export type PluginFailure = { readonly message: string; readonly trace: string }

/** Reported by a connector that runs beside its tasks: it has failed, and must not be asked for tasks again. */
export class ConnectorRaisedError extends WorkerError {
  constructor({ message, trace }: PluginFailure) {
    super('plugin_failed', message)
    this.stack = trace
  }
}

/** Creates a `WorkerError` with the trace of the plugin's code instead of the worker's stack. */
export function pluginError(
  code: 'plugin_failed' | 'plugin_unresponsive' | 'plugin_crashed' | 'plugins_busy',
  { message, trace }: PluginFailure,
): WorkerError {
  const error = new WorkerError(code, message)
  error.stack = trace
  return error
}
