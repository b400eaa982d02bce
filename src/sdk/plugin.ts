import type { z } from 'zod'
import type { FileAccess, HostAccess } from './access.ts'
import type { ConnectRecord, Position, RecordHeader, SinkRecord, SourceRecord } from './record.ts'
import type { Schema } from './schema.ts'

/**
 * What a plugin author writes. A plugin is a constant: its class name, its version, one zod object as configuration
 * (parsing, defaults, `/validate` and the reference page all come from it) and the functions of its kind.
 * Keys of the object are the configuration keys as users write them (`batch.size`), values are parsed from strings.
 * What takes a configuration is a method, so that a list of plugins can hold plugins of different configurations.
 */
export type PluginInfo<Config extends z.ZodObject> = {
  /** The name people write in `connector.class`, `key.converter`, `transforms.x.type`. */
  readonly class: string
  /** Other names it answers to: the Java class name first, then short names. */
  readonly aliases?: readonly string[]
  readonly version: string
  /** One sentence for the reference page. */
  readonly summary: string
  /** Markdown for the reference page: what it guarantees, where its limits are. */
  readonly notes?: string
  readonly config: Config
}

/** What every running task may use. `signal` aborts when the task has to stop. */
export type TaskContext<Config> = HostAccess & {
  readonly connector: string
  readonly task: number
  readonly config: Config
  /** The configuration as written, every key a string. */
  readonly raw: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly log: TaskLog
}
export type TaskLog = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export type SourceContext<Config> = TaskContext<Config> & {
  /** Where a source partition goes on: its last committed offset; undefined: begin at the beginning. */
  readonly resumeFrom: (partition: Position) => Position | undefined
  /**
   * The listener is told of each batch when it is in the log, or was stepped over: for who waits for that outside. Not of
   * batches whose transaction was taken back.
   */
  readonly onStored: (listener: StoredListener) => void
  /**
   * Gives what could not be made a right record to the dead letters (when the user asked for them) and goes on; otherwise
   * throws. The record says what could be had of it. Call it before the batch whose offsets step over it is yielded.
   */
  readonly reject: (record: SourceRecord, error: Error) => void
  /** Only with `transaction.boundary=connector`, on a worker whose sources write exactly once. */
  readonly transaction?: SourceTransaction
}

export type StoredListener = (batch: readonly SourceRecord[]) => void

/** How a source ends its transactions itself. Each call is about the batch that it yields next. */
export type SourceTransaction = {
  /** That batch is the last of its transaction. */
  readonly commit: () => void
  /** That batch, and all before it in the transaction, is taken back: nobody sees it, and it does not come again. */
  readonly abort: () => void
}

export type SourceConnector<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'source'
  /** Whether it ends its transactions itself where it is asked to. Default: the runtime does. */
  readonly definesTransactions?: boolean
  /** Raw configurations of the tasks, at most `tasksMax`. Default: one task with the connector's configuration. */
  tasks?(
    config: z.infer<Config>,
    tasksMax: number,
    raw: Readonly<Record<string, string>>,
    use: HostAccess,
  ): readonly Readonly<Record<string, string>>[] | Promise<readonly Readonly<Record<string, string>>[]>
  /**
   * How often `tasks` is asked again, in ms: what it makes of the same configuration may depend on what is there outside.
   * The tasks are restarted when it is something else. Default: never.
   */
  tasksAgainMs?(config: z.infer<Config>): number | undefined
  /**
   * One task's life. Each batch it yields is written before the next is asked for, or soon after: not being asked is
   * back-pressure. Yield an empty batch to say «nothing now» without ending. Returning ends the task; throwing fails it.
   * After a `RetriableError` it is called again, and `resumeFrom` knows the last batch it yielded.
   */
  poll(context: SourceContext<z.infer<Config>>): AsyncIterable<readonly SourceRecord[]>
  /** Refuses (throws) positions it could not go on from; absent: positions can't be altered from outside. */
  alterOffsets?(
    config: z.infer<Config>,
    offsets: readonly { readonly partition: Position; readonly offset: Position | null }[],
  ): void | Promise<void>
}

export type SinkPartition = { readonly topic: string; readonly partition: number }
export type SinkPosition = SinkPartition & { readonly offset: number }

export type SinkContext<Config> = TaskContext<Config> & {
  /**
   * Gives one record to the dead letters (when the user asked for them) and resolves when it is safe there; otherwise
   * throws `error`.
   */
  readonly reject: (record: SinkRecord, error: Error) => Promise<void>
  /** Asks the runtime to commit soon. */
  readonly requestCommit: () => void
}

/** One task of a sink. Methods are called one at a time. */
export type SinkTask = {
  /**
   * Partitions are this task's from now on. A sink that stores offsets itself, together with the records, answers where
   * to go on: those win over what is committed.
   */
  readonly open?: (
    partitions: readonly SinkPartition[],
  ) => Promise<readonly SinkPosition[] | void> | readonly SinkPosition[] | void
  readonly put: (records: readonly SinkRecord[]) => Promise<void> | void
  /**
   * Everything put so far has to be safe when this resolves; then `offsets` (the next ones to read) are committed.
   * Return others to commit those instead; none for a partition to leave it where it is.
   */
  readonly flush?: (
    offsets: readonly SinkPosition[],
  ) => Promise<readonly SinkPosition[] | void> | readonly SinkPosition[] | void
  readonly close?: (partitions: readonly SinkPartition[]) => Promise<void> | void
  readonly stop?: () => Promise<void> | void
}

export type SinkConnector<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'sink'
  tasks?(
    config: z.infer<Config>,
    tasksMax: number,
    raw: Readonly<Record<string, string>>,
    use: HostAccess,
  ): readonly Readonly<Record<string, string>>[] | Promise<readonly Readonly<Record<string, string>>[]>
  start(context: SinkContext<z.infer<Config>>): Promise<SinkTask> | SinkTask
}

export type SchemaAndValue = { readonly schema: Schema | null; readonly value: unknown }

/** One converter as configured for keys or for values of one task. Null means null bytes: a tombstone stays one. */
export type ConverterInstance = {
  readonly fromConnect: (
    topic: string,
    schema: Schema | null,
    value: unknown,
  ) => Uint8Array | null | Promise<Uint8Array | null>
  readonly toConnect: (topic: string, bytes: Uint8Array | null) => SchemaAndValue | Promise<SchemaAndValue>
}

/** What a converter is made for, and what it may use. */
export type ConverterUse = HostAccess & { readonly isKey: boolean }

export type Converter<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'converter'
  create(config: z.infer<Config>, use: ConverterUse): ConverterInstance
}

export type HeaderConverterInstance = {
  readonly fromConnect: (header: RecordHeader) => Uint8Array | null
  readonly toConnect: (key: string, bytes: Uint8Array | null) => RecordHeader
}

export type HeaderConverter<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'header_converter'
  create(config: z.infer<Config>, use: HostAccess): HeaderConverterInstance
}

/** Returns the changed record, or null to drop it. */
export type Transform<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'transformation'
  create(config: z.infer<Config>): <R extends ConnectRecord>(record: R) => R | null
}

export type Predicate<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'predicate'
  create(config: z.infer<Config>): (record: ConnectRecord) => boolean
}

/** One source of values from outside, as a worker has configured it. */
export type ConfigProviderInstance = {
  /**
   * The values of these keys at this place; what is not there is left out. A placeholder without a place asks for ''.
   * Throwing fails whoever holds the placeholder, with the message.
   */
  readonly read: (
    path: string,
    keys: readonly string[],
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/** What a provider may use. */
export type ProviderUse = {
  readonly files: FileAccess
  /** Whether the worker itself was configured by this variable of the environment, whose value may be a secret of its own. */
  readonly isOwnVariable: (name: string) => boolean
}

/** Fills in the placeholders of configurations, `${NAME:PATH:KEY}` or `${NAME:KEY}`. */
export type ConfigProvider<Config extends z.ZodObject = z.ZodObject> = PluginInfo<Config> & {
  readonly kind: 'provider'
  create(config: z.infer<Config>, use: ProviderUse): ConfigProviderInstance
}

export type Plugin =
  | SourceConnector
  | SinkConnector
  | Converter
  | HeaderConverter
  | Transform
  | Predicate
  | ConfigProvider
