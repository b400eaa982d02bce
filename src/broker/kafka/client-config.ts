import type { ConnectionOptions } from 'node:tls'
import type { KafkaConfig, SASLOptions } from 'kafkajs'
import { type Clock, systemClock } from '../../common/clock.ts'
import { UserError } from '../../common/errors.ts'
import { type TlsSource, tlsSource } from '../../tls/tls-material.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import { oauthTokenProvider } from './oauth-token-provider.ts'

export type KafkaClientConfig = Pick<
  KafkaConfig,
  'ssl' | 'sasl' | 'clientId' | 'connectionTimeout' | 'requestTimeout' | 'authenticationTimeout'
> & {
  readonly brokers: readonly string[]
}

type Keys = Readonly<Record<string, string>>

export type ReadClientConfigOptions = { readonly access?: ClientAccess; readonly clock?: Clock }

const KNOWN =
  /^(bootstrap\.servers|client\.id|security\.protocol|sasl\..*|ssl\..*|request\.timeout\.ms|socket\.connection\.setup\.timeout\.ms|connections\.max\.idle\.ms|reconnect\.backoff.*)$/

/**
 * Parses the configuration keys of Java clients. A key `client.X` overrides `X`. Throws a `UserError` that names the
 * key of an invalid value; unknown keys are returned in `ignored`. `kafka-connection.ts` connects and
 * logs in with the result.
 */
export function readClientConfig(
  written: Keys,
  { access = UNRESTRICTED_CLIENT, clock = systemClock }: ReadClientConfigOptions = {},
): {
  readonly config: KafkaClientConfig
  readonly protocol: string
  /** Source of the certificates; undefined without TLS. */
  readonly tls: TlsSource<ConnectionOptions> | undefined
  readonly ignored: readonly string[]
} {
  const keys = withOverrides(written)
  const protocol = oneOf(keys, 'security.protocol', ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'], 'PLAINTEXT')
  const tls = protocol.endsWith('SSL') ? tlsOf(keys, access) : undefined
  const config: KafkaClientConfig = {
    brokers: bootstrapServers(keys, access),
    clientId: keys['client.id'] || 'weir',
    ssl: tls?.read() ?? false,
    connectionTimeout: milliseconds(keys, 'socket.connection.setup.timeout.ms', 10_000),
    requestTimeout: milliseconds(keys, 'request.timeout.ms', 30_000),
    authenticationTimeout: 10_000,
    ...(protocol.startsWith('SASL') ? { sasl: saslOptions(keys, access, clock) } : {}),
  }
  return { config, protocol, tls, ignored: Object.keys(keys).filter((key) => !KNOWN.test(key)) }
}

function withOverrides(written: Keys): Keys {
  const overrides = Object.entries(written).filter(([key]) => key.startsWith('client.') && key !== 'client.id')
  const plain = Object.entries(written).filter(([key]) => !key.startsWith('client.') || key === 'client.id')
  return Object.fromEntries([
    ...plain,
    ...overrides.map(([key, value]) => [key.slice('client.'.length), value] as const),
  ])
}

function refuse(key: string, value: string | undefined, expected: string): never {
  throw new UserError(
    'invalid_client_config',
    value === undefined ? `${key} is missing: expected ${expected}` : `${key}=${value}: expected ${expected}`,
  )
}

function bootstrapServers(keys: Keys, access: ClientAccess): readonly string[] {
  const written = keys['bootstrap.servers']
  const servers = (written ?? '')
    .split(',')
    .map((server) => server.trim().replace(/^[A-Z_]+:\/\//, ''))
    .filter((server) => server !== '')
  if (servers.length === 0 || servers.some((server) => !/^(\[[^\]]+\]|[^:]+):\d{1,5}$/.test(server))) {
    refuse('bootstrap.servers', written, 'HOST:PORT, several separated by commas')
  }
  for (const server of servers) {
    const [, host = '', port] = /^(.*):(\d+)$/.exec(server) ?? []
    access.connectOptions('bootstrap.servers', host, Number(port))
  }
  return servers
}

function oneOf<const Words extends readonly string[]>(
  keys: Keys,
  key: string,
  words: Words,
  absent: Words[number],
): Words[number] {
  const written = keys[key]
  if (written === undefined || written === '') return absent
  return (
    words.find((word) => word === written.trim().toUpperCase()) ?? refuse(key, written, `one of ${words.join(', ')}`)
  )
}

function milliseconds(keys: Keys, key: string, absent: number): number {
  const written = keys[key]
  if (written === undefined || written === '') return absent
  return /^\d{1,10}$/.test(written.trim()) ? Number(written) : refuse(key, written, 'milliseconds')
}

function tlsOf(keys: Keys, access: ClientAccess): TlsSource<ConnectionOptions> {
  const checksHost = keys['ssl.endpoint.identification.algorithm'] !== ''
  return tlsSource(keys, checksHost ? {} : { checkServerIdentity: () => undefined }, access.readFileSync)
}

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const

function saslOptions(keys: Keys, access: ClientAccess, clock: Clock): SASLOptions {
  const mechanism = oneOf(keys, 'sasl.mechanism', MECHANISMS, 'PLAIN')
  const jaas = parseJaasOptions(keys['sasl.jaas.config'])
  if (mechanism === 'OAUTHBEARER')
    return { mechanism: 'oauthbearer', oauthBearerProvider: oauthTokenProvider(keys, jaas, access, clock) }
  const username = keys['sasl.username'] ?? jaas['username']
  const password = keys['sasl.password'] ?? jaas['password']
  if (!username || password === undefined) {
    throw new UserError(
      'invalid_client_config',
      `sasl.jaas.config: expected a login module with username="…" and password="…" for ${mechanism}`,
    )
  }
  return { mechanism: mechanism.toLowerCase() as 'plain' | 'scram-sha-256' | 'scram-sha-512', username, password }
}

/** Parses the options of a JAAS entry: `module required key="value" key=value;`. */
export function parseJaasOptions(line: string | undefined): Keys {
  const options: Record<string, string> = {}
  for (const [, key = '', quoted, bare] of (line ?? '').matchAll(
    /([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/g,
  )) {
    options[key] = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
  }
  return options
}
