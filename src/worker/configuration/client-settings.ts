import type { ConsumerOptions, ProducerOptions } from '../../broker/broker.ts'
import { enumSetting, integerSetting, settingsWithPrefix } from '../../config/settings.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { ConfigError, type ConfigProblem, parseConfig, z } from '../../sdk/index.ts'

/**
 * Kinds of Kafka clients of a task. The worker configures them as `producer.X`; a connector overrides that as
 * `producer.override.X`.
 */
export type ClientKind = 'producer' | 'consumer' | 'admin'
export const CLIENT_KINDS: readonly ClientKind[] = ['producer', 'consumer', 'admin']

/** The default of `max.request.size` in Kafka's Java client. */
const RECORD_BYTES_MAX = 1_048_576
const BATCH_BYTES_MAX = 1_000_000

const bytes = () => integerSetting({ min: 0 }).optional()
const milliseconds = () => integerSetting({ min: 1 }).optional()

const producerSpec = z.object({
  'batch.size': bytes(),
  'buffer.memory': integerSetting({ min: 0, max: Number.MAX_SAFE_INTEGER }).optional(),
  'compression.type': enumSetting(['none', 'gzip', 'snappy', 'lz4', 'zstd']).optional(),
  'delivery.timeout.ms': milliseconds(),
  // Up to Java's largest long, which means without a limit.
  'max.block.ms': integerSetting({ min: 0, max: 2 ** 63 }).optional(),
  'max.request.size': bytes(),
  'transaction.timeout.ms': milliseconds(),
})

const consumerSpec = z.object({
  'auto.offset.reset': enumSetting(['earliest', 'latest', 'none']).optional(),
  'client.id': z.string().trim().optional(),
  'fetch.max.bytes': integerSetting({ min: 1 }).optional(),
  'group.id': z.string().trim().min(1, 'a name is needed').optional(),
  'group.instance.id': z.string().trim().min(1, 'a name is needed').optional(),
  'heartbeat.interval.ms': milliseconds(),
  'isolation.level': enumSetting(['read_committed', 'read_uncommitted']).optional(),
  'max.poll.interval.ms': milliseconds(),
  'max.poll.records': integerSetting({ min: 1 }).optional(),
  'session.timeout.ms': milliseconds(),
})

const SPECS = { producer: producerSpec, consumer: consumerSpec, admin: z.object({}) }

/** Keys that define which brokers a client connects to, and how. */
const CONNECTION =
  /^(bootstrap\.servers|security\.protocol|sasl\..+|ssl\..+|request\.timeout\.ms|socket\.connection\.setup\.timeout\.ms)$/

export type ClientSettings = {
  /** The connection keys of this client that the worker's client settings or the connector define. */
  readonly connection: (kind: ClientKind) => RawConfig
  /** The connection keys that the connector overrides. */
  readonly overrides: (kind: ClientKind) => RawConfig
  readonly producer: () => Pick<
    ProducerOptions,
    'compression' | 'batchBytesMax' | 'bufferBytesMax' | 'deliveryTimeoutMs' | 'maxBlockMs' | 'transactionTimeoutMs'
  > & { readonly recordBytesMax: number }
  readonly consumer: () => Partial<Omit<ConsumerOptions, 'topics' | 'rebalance'>>
}

/**
 * Parses the client settings of one connector. The returned functions throw a `ConfigError` that names the key as
 * written.
 */
export function clientSettings(ofWorker: RawConfig, ofConnector: RawConfig): ClientSettings {
  const keysOf = (kind: ClientKind) => {
    // A group id or instance id set for the clients of all connectors would make them share one group or one member.
    const { 'group.id': _, 'group.instance.id': __, ...shared } = settingsWithPrefix(`${kind}.`, ofWorker)
    return { ...shared, ...settingsWithPrefix(`${kind}.override.`, ofConnector) }
  }
  const nameOf = (kind: ClientKind, key: string) => {
    const own = `${kind}.override.${key}`
    return Object.hasOwn(ofConnector, own) ? own : `${kind}.${key}`
  }
  const read = <Kind extends ClientKind>(kind: Kind) =>
    withKeyNames(
      (key) => nameOf(kind, key),
      () => parseConfig<(typeof SPECS)[Kind]>(SPECS[kind], keysOf(kind)),
    )
  return {
    connection: (kind) => connectionKeys(keysOf(kind)),
    overrides: (kind) => connectionKeys(settingsWithPrefix(`${kind}.override.`, ofConnector)),
    producer: () => toProducerOptions(read('producer')),
    consumer: () => toConsumerOptions(read('consumer')),
  }
}

function connectionKeys(config: RawConfig): RawConfig {
  return Object.fromEntries(Object.entries(config).filter(([key]) => CONNECTION.test(key)))
}

/** The problems of a connector's client overrides, with the keys as written. */
export function overrideProblems(ofConnector: RawConfig, kind: ClientKind): readonly ConfigProblem[] {
  const prefix = `${kind}.override.`
  return problemsOf(() =>
    withKeyNames(
      (key) => `${prefix}${key}`,
      () => parseConfig(SPECS[kind], settingsWithPrefix(prefix, ofConnector)),
    ),
  )
}

/** The problems in the `ConfigError` that `parse` throws, if any. */
export function problemsOf(parse: () => unknown): readonly ConfigProblem[] {
  try {
    parse()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

/** Keys with the prefix `KIND.` and `infix` that have no effect here, as written. */
export function ineffectiveKeys(config: RawConfig, infix: '' | 'override.'): readonly string[] {
  return CLIENT_KINDS.flatMap((kind) => {
    const prefix = `${kind}.${infix}`
    return Object.keys(settingsWithPrefix(prefix, config))
      .filter((key) => !Object.hasOwn(SPECS[kind].shape, key) && !CONNECTION.test(key))
      .map((key) => `${prefix}${key}`)
  })
}

function toProducerOptions(keys: z.infer<typeof producerSpec>): ReturnType<ClientSettings['producer']> {
  const recordBytesMax = keys['max.request.size'] ?? RECORD_BYTES_MAX
  return present({
    recordBytesMax,
    batchBytesMax: Math.min(recordBytesMax, keys['batch.size'] ?? BATCH_BYTES_MAX),
    bufferBytesMax: keys['buffer.memory'],
    compression: keys['compression.type'],
    deliveryTimeoutMs: keys['delivery.timeout.ms'],
    maxBlockMs: keys['max.block.ms'],
    transactionTimeoutMs: keys['transaction.timeout.ms'],
  })
}

function toConsumerOptions(keys: z.infer<typeof consumerSpec>): ReturnType<ClientSettings['consumer']> {
  const startAt = keys['auto.offset.reset']
  const outOfRange = startAt === 'none' ? ('error' as const) : startAt
  return present({
    startAt,
    outOfRange,
    groupId: keys['group.id'],
    instanceId: keys['group.instance.id'],
    clientId: keys['client.id'],
    isolation: keys['isolation.level'],
    pollBytesMax: keys['fetch.max.bytes'],
    pollRecordsMax: keys['max.poll.records'],
    pollIntervalMsMax: keys['max.poll.interval.ms'],
    sessionTimeoutMs: keys['session.timeout.ms'],
    heartbeatMs: keys['heartbeat.interval.ms'],
  })
}

type Present<T> = { readonly [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  readonly [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
}

function present<T extends object>(options: T): Present<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Present<T>
}

/** Runs `parse` and replaces the keys in a `ConfigError` by the names that the user wrote. */
export function withKeyNames<T>(nameOf: (key: string) => string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(
      error.problems.map(({ key, message }) => ({
        key: nameOf(key),
        message: message.replace(`configuration ${key}:`, `configuration ${nameOf(key)}:`),
      })),
    )
  }
}
