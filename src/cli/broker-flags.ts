import type { BrokerAddress } from '../broker/broker-address.ts'
import type { Setting } from '../config/settings.ts'
import { UsageError } from './command.ts'

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
