import type { z } from 'zod'
import type { ConfigProblem } from './errors.ts'
import type { FileAccess, HostAccess } from './host-access.ts'
import type { ConnectRecord, Position, RecordHeader, SinkRecord, SourceRecord } from './record.ts'
import type { Schema } from './schema.ts'

/**
 * The common part of all plugins. A plugin is a constant with a class name, a version, a zod object for its configuration
 * (source of parsing, defaults, `/validate` and the reference page) and the functions of its kind. The keys of the zod object
 * are the configuration keys as users write them (`batch.size`); values are parsed from strings. Functions that take the
 * configuration are methods, so that one array can contain plugins with different configurations.
 */
export type PluginInfo<Config extends z.ZodObject> = {
  /** The name for `connector.class`, `key.converter` or `transforms.NAME.type`. */
  readonly class: string
  /** Other names of the plugin: first the Java class name, then short names. */
  readonly aliases?: readonly string[]
  readonly version: string
  /** One sentence for the reference page. */
  readonly summary: string
  /** Markdown for the reference page: guarantees and limits. */
  readonly notes?: string
  readonly config: Config
  /** Without it, keys that a plugin with `catchall` does not define are never reported as unknown. */
  readonly otherKeys?: OtherKeys
}

/** What a plugin with `catchall` knows about keys that it does not define, so that a misspelled key is reported. */
export type OtherKeys = {
  /** Regular expressions, in Java's syntax, for whole keys: those that it reads, and those that are known to have no effect. */
  readonly known: readonly string[]
  /** The present names of keys of former versions. */
  readonly former: Readonly<Record<string, string>>
}

/** What every task receives. `signal` is aborted when the task must stop. */
export type TaskContext<Config> = HostAccess & {
  readonly connector: string
  readonly task: number
  readonly config: Config
  /** The configuration as the user wrote it. */
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
  /** The offset of a source partition that was committed when the source started; undefined when there is none. */
  readonly resumeFrom: (partition: Position) => Position | undefined
  /** The offset of a source partition that is committed now; undefined when there is none. */
  readonly committedOffset: (partition: Position) => Position | undefined
  /**
   * Registers a listener that is called with each batch when it is in the log, was skipped, or was aborted with its
   * transaction, for sources that acknowledge records to their origin. An error of it is logged.
   */
  readonly onStored: (listener: StoredListener) => void
  /**
   * Registers a listener that is called each time offsets of this task were committed, and at each interval of commits without
   * new offsets. An error of it is logged.
   */
  readonly onCommitted: (listener: () => void) => void
  /**
   * Sets the offset of a source partition after the batch that is yielded next, which may be empty: for data of the external
   * system that has no records. It is committed like the offset of a record.
   */
  readonly advance: (partition: Position, offset: Position) => void
  /**
   * Reads a topic, such as one with commands for the source, with the consumer settings of the connector. Rejects when the
   * servers of the options are those of another Kafka cluster.
   */
  readonly openTopic: (options: TopicReaderOptions) => Promise<TopicReader>
  /** Reports how far the source is behind the external system, for the metrics of the task. */
  readonly reportLag: (lag: SourceLag) => void
  /** Reports the progress of a snapshot, for the metrics of the task. */
  readonly reportSnapshot: (progress: SourceSnapshot) => void
  /**
   * Sends data that cannot be converted to a record to the dead-letter queue, or throws when none is configured. The record
   * contains what could be read. Call it before yielding the batch whose offsets skip the data.
   */
  readonly reject: (record: SourceRecord, error: Error) => void
  /**
   * Writes records that are not converted, such as the history of what the source knows of the external system, and resolves when they
   * are stored. They are outside of transactions: a record may be written again after a restart.
   */
  readonly report: (topic: ReportTopic, records: readonly ReportRecord[]) => Promise<void>
  /** Whether batches are written in transactions with their offsets. */
  readonly isExactlyOnce: boolean
  /** Present only with `transaction.boundary=connector` on a worker with exactly-once source support. */
  readonly transaction?: SourceTransaction
}

/** What a source reads of a topic: partition 0, which may not exist yet. */
export type TopicReaderOptions = {
  readonly topic: string
  /** The first record to read. The oldest one instead if it does not exist any more; undefined: the next one that is written. */
  readonly offset: number | undefined
  /** The cluster that the configuration of the source names, as `bootstrap.servers`; undefined if it names none. */
  readonly bootstrapServers: string | undefined
}
export type TopicRecord = {
  readonly offset: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
}
export type TopicReader = {
  /** Offset of the next record. 0 while the topic does not exist. */
  readonly nextOffset: number
  /** The next records; none if there are none for this time, in ms. */
  poll(waitMs: number): Promise<readonly TopicRecord[]>
  close(): Promise<void>
}

/** How far a source is behind the external system. */
export type SourceLag = {
  /** Age of the last data that was read, in ms; 0 if everything was read. */
  readonly ms: number
  /** Data that was not delivered, in bytes. */
  readonly bytes: number
  /** Data that the external system retains for this source, in bytes. */
  readonly retainedBytes: number
}

/** The progress of a source that reads a snapshot: the data that existed in the external system before its changes. */
export type SourceSnapshot = {
  /** Rows that were read. */
  readonly rows: number
  /** From 0 to 100; 100 only when the snapshot is complete. */
  readonly percent: number
  /** Estimated remaining time in ms; undefined until it can be estimated. */
  readonly remainingMs: number | undefined
}

/** `positions` returns where each record of the batch is in the log; null for one that was filtered, skipped or aborted. */
export type StoredListener = (
  batch: readonly SourceRecord[],
  positions: () => readonly (StoredPosition | null)[],
) => void

/** Where a record of a source is in the log. */
export type StoredPosition = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number | null
}

/** Transactions that the source delimits itself. A call applies to the batch that is yielded next. */
export type SourceTransaction = {
  /** Commits the transaction after that batch. */
  readonly commit: () => void
  /** Aborts the transaction with that batch: consumers see none of its records, and they are not produced again. */
  readonly abort: () => void
}

/**
 * The files and the network that the validation of a connector may access. `signal` is aborted after 80 s: the validation then
 * returns the problems that it has found.
 */
export type ValidationUse = HostAccess & { readonly signal: AbortSignal }

/** The common part of sources and sinks. */
type ConnectorInfo<Config extends z.ZodObject> = PluginInfo<Config> & {
  /**
   * The Java class of the tasks of the connector that this one replaces. It is stored with the tasks, so that a Java worker can take
   * them over. Default: the first alias with `Task` instead of `Connector`.
   */
  readonly taskClass?: string
  /**
   * Checks what only the external system can answer, such as credentials and rights, and returns the problems by key. It is called
   * when the keys themselves are valid and their placeholders are resolved, before a configuration is stored and for `/validate`.
   */
  validate?(config: z.infer<Config>, use: ValidationUse): Promise<readonly ConfigProblem[]>
}

export type SourceConnector<Config extends z.ZodObject = z.ZodObject> = ConnectorInfo<Config> & {
  readonly kind: 'source'
  /** Whether the source supports `transaction.boundary=connector`. Default: false. */
  readonly definesTransactions?: boolean
  /** Raw configurations of the tasks, at most `tasksMax`. Default: one task with the connector's configuration. */
  tasks?(
    config: z.infer<Config>,
    tasksMax: number,
    raw: Readonly<Record<string, string>>,
    use: HostAccess,
  ): readonly Readonly<Record<string, string>>[] | Promise<readonly Readonly<Record<string, string>>[]>
  /**
   * The interval at which `tasks` is called again, in ms, for results that depend on an external system. The tasks are
   * restarted when the result changes. Default: never.
   */
  tasksAgainMs?(config: z.infer<Config>): number | undefined
  /**
   * Runs a task. Each yielded batch is written before the next one is requested, or shortly after; a pending request is
   * back-pressure. Yield an empty batch when there is no data. Returning ends the task; throwing fails it. After a
   * `RetriableError` it is called again, and `resumeFrom` returns the offset of the last batch that was yielded.
   */
  poll(context: SourceContext<z.infer<Config>>): AsyncIterable<readonly SourceRecord[]>
  /** Throws for offsets that the source cannot resume from. If absent, offsets cannot be altered through the REST API. */
  alterOffsets?(
    config: z.infer<Config>,
    offsets: readonly { readonly partition: Position; readonly offset: Position | null }[],
  ): void | Promise<void>
}

export type SinkPartition = { readonly topic: string; readonly partition: number }
export type SinkPosition = SinkPartition & { readonly offset: number }
/** A committed offset, with a text that was committed with it. Brokers accept up to 4,096 bytes by default. */
export type CommittedPosition = SinkPosition & { readonly metadata?: string }

/** A topic that a connector reports to. It is created with these settings when it does not exist. */
export type ReportTopic = {
  readonly name: string
  readonly partitions: number
  /** Default: that of the broker. */
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
}
export type ReportRecord = {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly (readonly [name: string, value: Uint8Array | null])[]
}

/** A sink task as a member of its consumer group, as Kafka's transactions need it to commit offsets. */
export type SinkGroupMember = {
  readonly groupId: string
  readonly memberId: string
  readonly generation: number
  readonly instanceId?: string
}

export type SinkContext<Config> = TaskContext<Config> & {
  /**
   * Sends a record to the dead-letter queue and resolves when it is written there. Throws `error` when errors are not
   * tolerated.
   */
  readonly reject: (record: SinkRecord, error: Error) => Promise<void>
  /**
   * Writes records about what happened to others, with the producer of the task, and resolves when they are stored. Await
   * it in `put`, so that an offset is committed only after its report.
   */
  readonly report: (topic: ReportTopic, records: readonly ReportRecord[]) => Promise<void>
  /** Continues to read these partitions at other offsets, after the current call. */
  readonly seek: (positions: readonly SinkPosition[]) => void
  /** Reads no more records of these partitions until another call does not name them. */
  readonly setPausedPartitions: (partitions: readonly SinkPartition[]) => void
  /** Requests an offset commit soon. */
  readonly requestCommit: () => void
  /** Reads the committed offsets of partitions. A partition without one is left out. */
  readonly committedOffsets: (partitions: readonly SinkPartition[]) => Promise<readonly CommittedPosition[]>
  /**
   * Commits offsets immediately, instead of those that `flush` returns later. When it resolves, the next owner of the partitions reads
   * these offsets and their metadata. It rejects when the partitions may belong to another task already.
   */
  readonly commitOffsets: (offsets: readonly CommittedPosition[]) => Promise<void>
  /** For a sink that commits offsets in transactions of its own. Throws while no partitions are assigned. */
  readonly groupMember: () => SinkGroupMember
}

/** One task of a sink. Methods are called one at a time. */
export type SinkTask = {
  /**
   * Called when partitions are assigned to this task. A sink that stores offsets itself, together with the records, returns
   * them; they take precedence over the committed offsets.
   */
  readonly open?: (
    partitions: readonly SinkPartition[],
  ) => Promise<readonly SinkPosition[] | void> | readonly SinkPosition[] | void
  readonly put: (records: readonly SinkRecord[]) => Promise<void> | void
  /** Whether `put` is also called without records, about once a second when there are none. Default: false. */
  readonly putsEmptyBatches?: boolean
  /**
   * Whether the next records are read and converted while `put` runs. Not for a sink that calls `seek` or
   * `setPausedPartitions`, because it has already read what they exclude. Default: false.
   */
  readonly readsAhead?: boolean
  /**
   * When this resolves, all records that were put must be stored; then `offsets` (the next offsets to read) are committed.
   * Return other offsets to commit those instead. A partition without an offset is not committed. If this fails, the task
   * continues: the records since the last commit are put again.
   */
  readonly flush?: (
    offsets: readonly SinkPosition[],
  ) => Promise<readonly CommittedPosition[] | void> | readonly CommittedPosition[] | void
  readonly close?: (partitions: readonly SinkPartition[]) => Promise<void> | void
  readonly stop?: () => Promise<void> | void
}

export type SinkConnector<Config extends z.ZodObject = z.ZodObject> = ConnectorInfo<Config> & {
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

/** A converter as configured for the keys or values of a task. Null is converted to null bytes, so tombstones are kept. */
export type ConverterInstance = {
  readonly fromConnect: (
    topic: string,
    schema: Schema | null,
    value: unknown,
  ) => Uint8Array | null | Promise<Uint8Array | null>
  readonly toConnect: (topic: string, bytes: Uint8Array | null) => SchemaAndValue | Promise<SchemaAndValue>
}

/** Whether a converter is for keys or values, and its access to the host. */
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

/** A config provider as a worker has configured it. */
export type ConfigProviderInstance = {
  /**
   * Returns the values of these keys at this path, without keys that do not exist. The path is '' for a placeholder without
   * one. An error fails the configuration that contains the placeholder, with its message.
   */
  readonly read: (
    path: string,
    keys: readonly string[],
  ) => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/** What a config provider receives. */
export type ProviderUse = {
  readonly files: FileAccess
  /** Whether the worker itself was configured by this environment variable, whose value may be a secret. */
  readonly isOwnVariable: (name: string) => boolean
}

/** Resolves placeholders in configurations: `${NAME:PATH:KEY}` or `${NAME:KEY}`. */
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
