import type { ConsumerOptions, ProducerOptions } from '../../broker/broker.ts'
import {
  CLIENT_KINDS,
  type ClientKind,
  CONNECTION_SETTINGS,
  ineffectiveSetting,
  isConnectionSetting,
  OWN_SETTINGS,
  rejectionOf,
  treatmentOf,
  typesOf,
} from '../../broker/client-settings.ts'
import { settingsWithPrefix } from '../../config/settings.ts'
import type { RawConfig } from '../../sdk/index.ts'
import { ConfigError, type ConfigProblem, parseConfig, z } from '../../sdk/index.ts'

/** The default of `max.request.size` in Kafka's Java client. */
const RECORD_BYTES_MAX = 1_048_576
const BATCH_BYTES_MAX = 1_000_000
/** More batches in flight than this, and brokers could not detect a duplicate. */
const IN_FLIGHT_MAX = 5

const producerSpec = z.object(typesOf(OWN_SETTINGS.producer))
const consumerSpec = z.object(typesOf(OWN_SETTINGS.consumer))
const SPECS = { producer: producerSpec, consumer: consumerSpec, admin: z.object(typesOf(OWN_SETTINGS.admin)) }
const connectionSpec = z.object(typesOf(CONNECTION_SETTINGS))

export type ClientSettings = {
  /** The connection keys of this client that the worker's client settings or the connector define. */
  readonly connection: (kind: ClientKind) => RawConfig
  /** The connection keys that the connector overrides. */
  readonly overrides: (kind: ClientKind) => RawConfig
  readonly producer: () => Pick<
    ProducerOptions,
    | 'compression'
    | 'batchBytesMax'
    | 'bufferBytesMax'
    | 'deliveryTimeoutMs'
    | 'inFlightMax'
    | 'maxBlockMs'
    | 'metadataMaxAgeMs'
    | 'transactionTimeoutMs'
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
  return Object.fromEntries(Object.entries(config).filter(([key]) => isConnectionSetting(key)))
}

/** The problems of a connector's client overrides, with the keys as written. */
export function overrideProblems(ofConnector: RawConfig, kind: ClientKind): readonly ConfigProblem[] {
  return problemsWith(kind, `${kind}.override.`, ofConnector)
}

/** The problems of the worker's settings for the clients of all connectors, with the keys as written. */
export function clientProblems(ofWorker: RawConfig): readonly ConfigProblem[] {
  return CLIENT_KINDS.flatMap((kind) => problemsWith(kind, `${kind}.`, ofWorker))
}

function problemsWith(kind: ClientKind, prefix: string, config: RawConfig): readonly ConfigProblem[] {
  const keys = settingsWithPrefix(prefix, config)
  const rejected = Object.entries(keys).flatMap(([key, value]) => {
    const reason = rejectionOf(kind, key, value)
    return reason === undefined
      ? []
      : [{ key: `${prefix}${key}`, message: `${prefix}${key} is not supported: ${reason}` }]
  })
  const invalid = [SPECS[kind], connectionSpec].flatMap((spec) =>
    problemsOf(() =>
      withKeyNames(
        (key) => `${prefix}${key}`,
        () => parseConfig<z.ZodObject>(spec, keys),
      ),
    ),
  )
  return [...rejected, ...invalid]
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

/** Keys with the prefix `KIND.` and `infix` that have no effect here, as written, and why. */
export function ineffectiveKeys(config: RawConfig, infix: '' | 'override.'): Readonly<Record<string, string>> {
  const found = CLIENT_KINDS.flatMap((kind) => {
    const prefix = `${kind}.${infix}`
    return Object.keys(settingsWithPrefix(prefix, config))
      .filter((key) => ['ineffective', 'unknown'].includes(treatmentOf(kind, key)))
      .map((key) => [`${prefix}${key}`, ineffectiveSetting(key)?.reason ?? `Kafka’s ${kind} has no such setting`])
  })
  return Object.fromEntries(found)
}

function toProducerOptions(keys: z.infer<typeof producerSpec>): ReturnType<ClientSettings['producer']> {
  const recordBytesMax = keys['max.request.size'] ?? RECORD_BYTES_MAX
  const inFlight = keys['max.in.flight.requests.per.connection']
  return present({
    recordBytesMax,
    batchBytesMax: Math.min(recordBytesMax, keys['batch.size'] ?? BATCH_BYTES_MAX),
    bufferBytesMax: keys['buffer.memory'],
    compression: keys['compression.type'],
    deliveryTimeoutMs: keys['delivery.timeout.ms'],
    inFlightMax: inFlight === undefined ? undefined : Math.min(IN_FLIGHT_MAX, inFlight),
    maxBlockMs: keys['max.block.ms'],
    metadataMaxAgeMs: keys['metadata.max.age.ms'],
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
    isolation: keys['isolation.level'],
    metadataMaxAgeMs: keys['metadata.max.age.ms'],
    fetchBytesMin: keys['fetch.min.bytes'],
    fetchWaitMsMax: keys['fetch.max.wait.ms'],
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
