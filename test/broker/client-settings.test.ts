import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  CLIENT_KINDS,
  type ClientKind,
  CONNECTION_SETTINGS,
  INEFFECTIVE_SETTINGS,
  ineffectiveSetting,
  isConnectionSetting,
  OWN_SETTINGS,
  REJECTED_SETTINGS,
  treatmentOf,
} from '../../src/broker/client-settings.ts'
import { readClientConfig } from '../../src/broker/kafka/client-config.ts'
import { clientSettings, overrideProblems } from '../../src/worker/configuration/client-settings.ts'

// `npx vitest run --project unit test/broker/client-settings.test.ts -u` generates the page.
const PAGE = join(import.meta.dirname, '../../docs/client-settings.md')
/** The settings of Kafka 4.4, which `test/contract/client-settings.test.ts` records. */
const RECORDED = JSON.parse(readFileSync(join(import.meta.dirname, 'kafka-client-settings.json'), 'utf8')) as Readonly<
  Record<ClientKind, readonly string[]>
>

it.each(CLIENT_KINDS)('every setting of Kafka’s %s has a treatment', (kind) => {
  expect(RECORDED[kind].filter((key) => treatmentOf(kind, key) === 'unknown')).toEqual([])
})

it.each(CLIENT_KINDS)('every setting that is declared for the %s exists in Kafka', (kind) => {
  // Of clients before 4.0, whose configurations are still in use.
  const older = ['auto.include.jmx.reporter', 'sasl.password', 'sasl.username']
  const own = ['sasl.password.location']
  const exists = (key: string) =>
    older.includes(key) ||
    own.includes(key) ||
    RECORDED[kind].some((one) => (key.endsWith('*') ? one.startsWith(key.slice(0, -1)) : one === key))
  const declared = [CONNECTION_SETTINGS, OWN_SETTINGS[kind], INEFFECTIVE_SETTINGS, REJECTED_SETTINGS].flatMap(
    (settings) =>
      Object.entries(settings as Record<string, { clients: readonly ClientKind[] }>).flatMap(([key, { clients }]) =>
        clients.includes(kind) ? [key] : [],
      ),
  )
  expect(declared.filter((key) => !exists(key))).toEqual([])
})

it('no setting is declared twice', () => {
  const all = [CONNECTION_SETTINGS, INEFFECTIVE_SETTINGS, REJECTED_SETTINGS, ...Object.values(OWN_SETTINGS)]
  const keys = all.flatMap((settings) => Object.keys(settings)).filter((key) => key !== 'metadata.max.age.ms')
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([])
})

it('are listed in docs/client-settings.md', async () => {
  await expect(page()).toMatchFileSnapshot(PAGE)
})

describe('an honoured setting', () => {
  /** A value other than the default, and what is read of it: a part of the client's configuration or options. */
  const CONNECTION: Readonly<Record<string, readonly [value: string, read: object]>> = {
    'bootstrap.servers': ['two:2', { brokers: ['two:2'] }],
    'client.id': ['me', { clientId: 'me' }],
    'client.dns.lookup': [
      'resolve_canonical_bootstrap_servers_only',
      { dnsLookup: 'resolve_canonical_bootstrap_servers_only' },
    ],
    'connections.max.idle.ms': ['-1', { connectionIdleMs: Number.POSITIVE_INFINITY }],
    'default.api.timeout.ms': ['7', { apiTimeoutMs: 7 }],
    'metadata.recovery.rebootstrap.trigger.ms': ['7', { recovery: { rebootstraps: true, triggerMs: 7 } }],
    'metadata.recovery.strategy': ['NONE', { recovery: { rebootstraps: false, triggerMs: 300_000 } }],
    'reconnect.backoff.max.ms': ['7000', { reconnectBackoff: { firstMs: 50, maxMs: 7_000 } }],
    'reconnect.backoff.ms': ['7', { reconnectBackoff: { firstMs: 7, maxMs: 1_000 } }],
    'request.timeout.ms': ['7', { requestTimeoutMs: 7 }],
    'retry.backoff.max.ms': ['7', { retryBackoff: { firstMs: 7, maxMs: 7 } }],
    'retry.backoff.ms': ['7', { retryBackoff: { firstMs: 7, maxMs: 1_000 } }],
    'socket.connection.setup.timeout.max.ms': ['7000', { connectionSetup: { firstMs: 7_000, maxMs: 7_000 } }],
    'socket.connection.setup.timeout.ms': ['7', { connectionSetup: { firstMs: 7, maxMs: 30_000 } }],
  }
  /** `kafka-security.test.ts` and `kafka-connection.test.ts` show their effect. */
  const SECURITY = /^(?:sasl|ssl|security)\./

  it.each(
    CLIENT_KINDS.flatMap((kind) =>
      Object.entries(CONNECTION).map(([key, [value, read]]) => ({ kind, key, value, read })),
    ),
  )('$key=$value of a connector’s $kind is that of its connection', ({ kind, key, value, read }) => {
    const connection = clientSettings({}, { [`${kind}.override.${key}`]: value }).connection(kind)
    expect(readClientConfig({ 'bootstrap.servers': 'one:1', ...connection }).config).toMatchObject(read)
    expect(clientSettings({ [`${kind}.${key}`]: value }, {}).connection(kind)).toEqual({ [key]: value })
  })

  it('has a row above, unless it is about security', () => {
    const keys = Object.keys(CONNECTION_SETTINGS).filter((key) => !SECURITY.test(key))
    expect(keys.toSorted()).toEqual(Object.keys(CONNECTION).toSorted())
  })

  const OWN: Readonly<
    Record<'producer' | 'consumer', Readonly<Record<string, readonly [value: string, read: object]>>>
  > = {
    producer: {
      'batch.size': ['7', { batchBytesMax: 7 }],
      'buffer.memory': ['7', { bufferBytesMax: 7 }],
      'compression.type': ['lz4', { compression: 'lz4' }],
      'delivery.timeout.ms': ['7', { deliveryTimeoutMs: 7 }],
      'max.block.ms': ['7', { maxBlockMs: 7 }],
      'max.in.flight.requests.per.connection': ['1', { inFlightMax: 1 }],
      'max.request.size': ['7', { recordBytesMax: 7 }],
      'metadata.max.age.ms': ['7', { metadataMaxAgeMs: 7 }],
      'transaction.timeout.ms': ['7', { transactionTimeoutMs: 7 }],
    },
    consumer: {
      'auto.offset.reset': ['latest', { startAt: 'latest' }],
      'fetch.max.bytes': ['7', { pollBytesMax: 7 }],
      'fetch.max.wait.ms': ['7', { fetchWaitMsMax: 7 }],
      'fetch.min.bytes': ['7', { fetchBytesMin: 7 }],
      'group.id': ['g', { groupId: 'g' }],
      'group.instance.id': ['g', { instanceId: 'g' }],
      'heartbeat.interval.ms': ['7', { heartbeatMs: 7 }],
      'isolation.level': ['read_uncommitted', { isolation: 'read_uncommitted' }],
      'max.poll.interval.ms': ['7', { pollIntervalMsMax: 7 }],
      'max.poll.records': ['7', { pollRecordsMax: 7 }],
      'metadata.max.age.ms': ['7', { metadataMaxAgeMs: 7 }],
      'session.timeout.ms': ['7', { sessionTimeoutMs: 7 }],
    },
  }
  it.each(['producer', 'consumer'] as const)('of the %s is an option of the client', (kind) => {
    expect(Object.keys(OWN[kind]).toSorted()).toEqual(Object.keys(OWN_SETTINGS[kind]).toSorted())
    for (const [key, [value, read]] of Object.entries(OWN[kind]))
      expect(clientSettings({}, { [`${kind}.override.${key}`]: value })[kind](), key).toMatchObject(read)
  })

  it('is rejected with a value that cannot be read', () => {
    for (const key of Object.keys(CONNECTION).filter((one) => one.endsWith('.ms'))) {
      const [problem, ...others] = overrideProblems({ [`consumer.override.${key}`]: 'soon' }, 'consumer')
      expect([problem?.key, others]).toEqual([`consumer.override.${key}`, []])
      expect(() => readClientConfig({ 'bootstrap.servers': 'one:1', [key]: 'soon' })).toThrow(`${key}=soon: expected`)
    }
  })
})

it.each(CLIENT_KINDS)(
  'a rejected setting of the %s is a problem of the connector, unless its value has the effect anyway',
  (kind) => {
    for (const [key, { clients, unless, reason }] of Object.entries(REJECTED_SETTINGS)) {
      if (!clients.includes(kind)) continue
      expect(overrideProblems({ [`${kind}.override.${key}`]: 'x' }, kind)).toEqual([
        { key: `${kind}.override.${key}`, message: `${kind}.override.${key} is not supported: ${reason}` },
      ])
      if (unless !== undefined) expect(overrideProblems({ [`${kind}.override.${key}`]: unless }, kind)).toEqual([])
    }
  },
)

const INTRO = `# Settings of Kafka's clients

Weir reads the settings of Kafka's clients with Java's names. This page lists all that Kafka 4.3 has, and what Weir does with each. It
is generated from the declaration that the programs use (\`src/broker/client-settings.ts\`), and a test compares it with Kafka's own.

- **At the top level** of a worker, a setting is that of all its connections, and connectors inherit it. A registry has it with the
  prefix \`brokerstore.\` or \`kafkastore.\`.
- **For the clients of all connectors**, a worker has it with the prefix \`producer.\`, \`consumer.\` or \`admin.\`.
- **For one connector**, its configuration has it with the prefix \`producer.override.\`, \`consumer.override.\` or
  \`admin.override.\`, if \`connector.client.config.override.policy\` permits it.

A setting without effect is accepted, and the log says so once, with the reason: at the start of the worker or registry, or of the task.
A rejected setting ends the start of the worker, or is an error of the connector's configuration. Settings that are not listed are those
of no client; they have no effect, which is logged in the same way.`

function page(): string {
  const mark = (kind: ClientKind, key: string) =>
    RECORDED[kind].includes(key) || treatmentOf(kind, key) === 'honoured' ? 'yes' : ''
  const all = [...new Set(CLIENT_KINDS.flatMap((kind) => RECORDED[kind]))].toSorted()
  const rowsOf = (treatment: string, text: (key: string) => string) =>
    all
      .filter((key) => CLIENT_KINDS.some((kind) => treatmentOf(kind, key) === treatment))
      .map((key) => `| \`${key}\` | ${CLIENT_KINDS.map((kind) => mark(kind, key)).join(' | ')} | ${text(key)} |`)
  const effects: Readonly<Record<string, { readonly effect: string }>> = {
    ...CONNECTION_SETTINGS,
    ...OWN_SETTINGS.producer,
    ...OWN_SETTINGS.consumer,
  }
  const defaultOf = (key: string) => {
    if (!isConnectionSetting(key)) return ''
    const parsed = CONNECTION_SETTINGS[key as keyof typeof CONNECTION_SETTINGS].type.safeParse(undefined)
    return parsed.data === undefined ? '' : ` Default: \`${parsed.data}\`.`
  }
  const head = (title: string) =>
    `| setting | producer | consumer | admin | ${title} |\n| --- | --- | --- | --- | --- |`
  return [
    `${INTRO}\n`,
    `## Honoured\n\n${head('the setting …')}`,
    `${rowsOf('honoured', (key) => `${effects[key]!.effect}.${defaultOf(key)}`).join('\n')}\n`,
    `## Without effect\n\n${head('because')}`,
    `${rowsOf('ineffective', (key) => `${ineffectiveSetting(key)!.reason}`).join('\n')}\n`,
    `## Rejected\n\n${head('because')}`,
    `${rowsOf('rejected', (key) => {
      const { reason, unless } = REJECTED_SETTINGS[key]!
      return unless === undefined ? reason : `${reason}; \`${unless}\` is accepted`
    }).join('\n')}\n`,
  ].join('\n')
}
