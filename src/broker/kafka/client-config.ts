import type { ConnectionOptions } from 'node:tls'
import { z } from 'zod'
import { type Clock, systemClock } from '../../common/clock.ts'
import { UserError } from '../../common/errors.ts'
import type { Backoff } from '../../common/retry.ts'
import { type TlsSource, tlsSource } from '../../tls/tls-material.ts'
import { clientProtocols } from '../../tls/tls-protocols.ts'
import { type ClientAccess, UNRESTRICTED_CLIENT } from '../client-access.ts'
import {
  CONNECTION_SETTINGS,
  isConnectionSetting,
  OWN_SETTINGS,
  rejectionOf,
  treatmentOf,
  typesOf,
} from '../client-settings.ts'
import type { SaslOptions } from './kafkajs-login.ts'
import { saslOptions } from './sasl-options.ts'

/** Times in milliseconds. */
export type KafkaClientConfig = {
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly dnsLookup: 'use_all_dns_ips' | 'resolve_canonical_bootstrap_servers_only'
  readonly requestTimeoutMs: number
  /** Limit of a call with all its requests and retries. */
  readonly apiTimeoutMs: number
  readonly retryBackoff: Backoff
  /** The timeout of connecting to a node; it doubles with each connection that fails. */
  readonly connectionSetup: Backoff
  readonly reconnectBackoff: Backoff
  readonly connectionIdleMs: number
  readonly recovery: { readonly rebootstraps: boolean; readonly triggerMs: number }
  /** Undefined: each client has its own default. */
  readonly metadataMaxAgeMs: number | undefined
  readonly sasl?: SaslOptions
}

type Keys = Readonly<Record<string, string>>

export type ReadClientConfigOptions = { readonly access?: ClientAccess; readonly clock?: Clock }

const spec = z.object({ ...typesOf(CONNECTION_SETTINGS), ...typesOf(OWN_SETTINGS.admin) })

/**
 * Parses the configuration keys of Java clients. A key `client.X` overrides `X`. Throws a `UserError` that names the
 * key of an invalid value; keys without effect are returned in `ignored`. `kafka-connection.ts` connects and
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
  const values = parseKeys(keys)
  const protocol = oneOf(keys, 'security.protocol', ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'], 'PLAINTEXT')
  const tls = protocol.endsWith('SSL') ? tlsOf(keys, access) : undefined
  const brokers = bootstrapServers(keys, access)
  const backoff = (firstMs: number, maxMs: number): Backoff => ({ firstMs: Math.min(firstMs, maxMs), maxMs })
  const idleMs = values['connections.max.idle.ms']
  const config: KafkaClientConfig = {
    brokers,
    clientId: keys['client.id'] || 'weir',
    dnsLookup: values['client.dns.lookup'],
    requestTimeoutMs: values['request.timeout.ms'],
    apiTimeoutMs: values['default.api.timeout.ms'],
    retryBackoff: backoff(values['retry.backoff.ms'], values['retry.backoff.max.ms']),
    connectionSetup: backoff(
      values['socket.connection.setup.timeout.ms'],
      values['socket.connection.setup.timeout.max.ms'],
    ),
    reconnectBackoff: backoff(values['reconnect.backoff.ms'], values['reconnect.backoff.max.ms']),
    connectionIdleMs: idleMs < 0 ? Number.POSITIVE_INFINITY : idleMs,
    recovery: {
      rebootstraps: values['metadata.recovery.strategy'] === 'rebootstrap',
      triggerMs: values['metadata.recovery.rebootstrap.trigger.ms'],
    },
    metadataMaxAgeMs: values['metadata.max.age.ms'],
    ...(protocol.startsWith('SASL') ? { sasl: saslOptions(keys, { servers: brokers, access, clock }) } : {}),
  }
  return { config, protocol, tls, ignored: Object.keys(keys).filter((key) => treatmentOf('admin', key) !== 'honoured') }
}

/** An empty value is that of a key that is not set. */
function parseKeys(keys: Keys): z.infer<typeof spec> {
  for (const [key, value] of Object.entries(keys)) {
    const reason = rejectionOf('admin', key, value)
    if (reason !== undefined) throw new UserError('invalid_client_config', `${key} is not supported: ${reason}`)
  }
  const known = Object.entries(keys).filter(([key, value]) => Object.hasOwn(spec.shape, key) && value !== '')
  const parsed = spec.safeParse(Object.fromEntries(known))
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const key = String(issue?.path[0])
  throw new UserError('invalid_client_config', `${key}=${keys[key]}: ${issue?.message}`)
}

/** `client.dns.lookup` and `client.id` are settings, not overrides. */
const isOverride = (key: string) => key.startsWith('client.') && !isConnectionSetting(key)

function withOverrides(written: Keys): Keys {
  const overrides = Object.entries(written).filter(([key]) => isOverride(key))
  const plain = Object.entries(written).filter(([key]) => !isOverride(key))
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

function tlsOf(keys: Keys, access: ClientAccess): TlsSource<ConnectionOptions> {
  const checksHost = keys['ssl.endpoint.identification.algorithm'] !== ''
  const more = { ...clientProtocols(keys), ...(checksHost ? {} : { checkServerIdentity: () => undefined }) }
  return tlsSource(keys, more, access.readFileSync)
}
