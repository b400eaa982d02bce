import type { BrokerAddress } from '../broker/broker-address.ts'
import type { Logger } from '../common/logging/logger.ts'
import type { Setting } from '../config/settings.ts'
import { type ExitCode, UsageError } from './command.ts'
import type { FollowedKafka, KafkaReference, ObjectName } from './strimzi/follow-strimzi-kafka.ts'

export type BrokerFlags = {
  readonly bootstrap?: string | undefined
  readonly data?: string | undefined
  readonly 'data-fsync'?: string | undefined
}

/** Settings of Kafka's clients, which Kafka Connect's workers read at the top level. */
const CLIENT_SETTING =
  /^(?:client|security|sasl|ssl|metadata|default\.api|request|retry|reconnect|socket|connections|send\.buffer|receive\.buffer)\./

/** Undefined when neither `--bootstrap` nor `--data` is given. */
export function brokerAddressFromFlags(flags: BrokerFlags): BrokerAddress | undefined {
  const { bootstrap, data } = flags
  if (bootstrap !== undefined && data !== undefined) {
    throw new UsageError('--bootstrap and --data exclude each other: give one of them')
  }
  if (data !== undefined) return embeddedBrokerAddress(data, flags)
  if (flags['data-fsync'] !== undefined) {
    throw new UsageError('--data-fsync applies to the embedded broker only: add --data DIR')
  }
  return bootstrap === undefined ? undefined : kafkaBrokerAddress(bootstrap, {})
}

/** The embedded broker with its data in this directory. */
export function embeddedBrokerAddress(directory: string, { 'data-fsync': fsync }: BrokerFlags): BrokerAddress {
  if (fsync === undefined) return { kind: 'embedded', directory }
  if (fsync === 'commit' || fsync === 'checkpoint') return { kind: 'embedded', directory, fsync }
  throw new UsageError(`--data-fsync ${fsync}: expected commit or checkpoint`)
}

/** The broker of a command that runs several programs: settings without a program's prefix are those of Kafka's clients. */
export function stackBrokerAddress(flags: BrokerFlags, settings: readonly Setting[]): BrokerAddress | undefined {
  const address = brokerAddressFromFlags(flags)
  if (address?.kind !== 'kafka') return address
  const client = settings.filter(({ key }) => !/^(registry|worker)\./.test(key))
  return {
    kind: 'kafka',
    config: { ...Object.fromEntries(client.map(({ key, value }) => [key, value])), ...address.config },
  }
}

/**
 * The broker named by flags, else the one named by the setting `bootstrap`. Throws a `UsageError` when neither names one.
 * `client`: settings of Kafka's clients.
 */
export function resolveBrokerAddress(
  flags: BrokerFlags,
  bootstrap: { readonly key: string; readonly value: string | undefined },
  client: Readonly<Record<string, string>>,
): BrokerAddress {
  const given = brokerAddressFromFlags(flags)
  if (given?.kind === 'kafka') return { kind: 'kafka', config: { ...client, ...given.config } }
  if (given !== undefined) return given
  if (bootstrap.value) return kafkaBrokerAddress(bootstrap.value, client)
  throw new UsageError(
    `no broker is configured: give --bootstrap HOST:PORT (or --set ${bootstrap.key}=HOST:PORT) for Kafka, or --data DIR for an embedded broker`,
  )
}

export function kafkaClientSettings(settings: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => CLIENT_SETTING.test(key)))
}

function kafkaBrokerAddress(bootstrap: string, config: Readonly<Record<string, string>>): BrokerAddress {
  const wrong = bootstrap
    .split(',')
    .find((one) => !/^(?:[A-Z_]+:\/\/)?(?:\[[0-9a-f:.]+\]|[^:\s]+):\d{1,5}$/i.test(one.trim()))
  if (wrong !== undefined) {
    throw new UsageError(`'${wrong}' is not a broker address: expected HOST:PORT, such as 127.0.0.1:9092`)
  }
  return { kind: 'kafka', config: { ...config, 'bootstrap.servers': bootstrap } }
}

export type KafkaReferenceFlags = BrokerFlags & {
  readonly 'kafka-ref'?: string | undefined
  readonly 'kafka-user-ref'?: string | undefined
  readonly 'kafka-listener'?: string | undefined
  readonly kubeconfig?: string | undefined
}

/** Options that name resources of Strimzi instead of brokers. */
export const KAFKA_REFERENCE_OPTIONS = {
  'kafka-ref': { type: 'string' },
  'kafka-user-ref': { type: 'string' },
  'kafka-listener': { type: 'string' },
} as const

export const KAFKA_REFERENCE_HELP = `  --kafka-ref NAMESPACE/NAME        Strimzi's Kafka to connect to, instead of --bootstrap
  --kafka-user-ref NAMESPACE/NAME   the KafkaUser whose certificate or password is used, and followed when Strimzi renews it
  --kafka-listener NAME             the listener; default: the internal one with the authentication of the user`

/**
 * Calls `run` with the brokers of the Kafka that the options name as `--bootstrap`, and with the settings of its clients, which other
 * settings override. Follows its Secrets until `run` resolves. Without such options, `run` gets the flags as they are, and no settings.
 * Throws a `UsageError` for invalid options.
 */
export async function withReferencedKafka<Flags extends KafkaReferenceFlags>(
  flags: Flags,
  logger: Logger,
  run: (flags: Flags, settings: readonly Setting[]) => Promise<ExitCode>,
): Promise<ExitCode> {
  const reference = parseReference(flags)
  if (reference === undefined) return run(flags, [])
  // Loaded on demand: the Kubernetes client takes half a second and 80 MB.
  const { followStrimziKafka } = await import('./strimzi/follow-strimzi-kafka.ts')
  const kafka: FollowedKafka = await followStrimziKafka(reference, { logger, kubeconfig: flags.kubeconfig })
  try {
    const settings = Object.entries(kafka.settings).map(([key, value]) => ({ key, value, source: '--kafka-ref' }))
    return await run({ ...flags, bootstrap: kafka.bootstrap }, settings)
  } finally {
    await kafka.close()
  }
}

function parseReference(flags: KafkaReferenceFlags): KafkaReference | undefined {
  const { 'kafka-ref': kafka, 'kafka-user-ref': user, 'kafka-listener': listener } = flags
  if (kafka === undefined) {
    if (user === undefined && listener === undefined) return undefined
    throw new UsageError(
      '--kafka-user-ref and --kafka-listener need --kafka-ref NAMESPACE/NAME, the Kafka that they belong to',
    )
  }
  if (flags.bootstrap !== undefined || flags.data !== undefined)
    throw new UsageError('--kafka-ref excludes --bootstrap and --data: give one of them')
  const name = parseName('--kafka-ref', kafka)
  return { kafka: name, user: user === undefined ? undefined : parseName('--kafka-user-ref', user), listener }
}

function parseName(option: string, text: string): ObjectName {
  const [, namespace, name] = /^(?:([a-z0-9-]+)\/)?([a-z0-9.-]+)$/.exec(text) ?? []
  if (name !== undefined) return { namespace, name }
  throw new UsageError(
    `${option} ${text}: expected NAMESPACE/NAME, or NAME in the namespace of the pod or the kubeconfig`,
  )
}
