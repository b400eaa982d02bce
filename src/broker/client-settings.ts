import { z } from 'zod'
import { parseJavaDuration } from '../common/java-duration.ts'
import type { Backoff } from '../common/retry.ts'
import { trimAsJava } from '../common/trim-as-java.ts'
import { enumSetting, integerSetting } from '../config/settings.ts'
import type { StartPoint } from './broker.ts'

/**
 * The settings of Kafka's producer, consumer and admin client, and what Weir does with each: the readers of configurations, the
 * validation of connectors, the log and docs/client-settings.md follow this declaration.
 */

export type ClientKind = 'producer' | 'consumer' | 'admin'
export const CLIENT_KINDS: readonly ClientKind[] = ['producer', 'consumer', 'admin']

/** What all clients of a broker have in common, from the settings of its connection. */
export type ClientDefaults = {
  readonly metadataMaxAgeMs?: number | undefined
  /** The pauses before a request is repeated. */
  readonly retryBackoff: Backoff
}

export const RETRY_BACKOFF: Backoff = { firstMs: 100, maxMs: 1_000 }

/** `effect` completes the sentence "the setting …" in docs/client-settings.md. */
type Honoured = { readonly clients: readonly ClientKind[]; readonly type: z.ZodType; readonly effect: string }

const milliseconds = (min = 0) => integerSetting({ min, max: Number.MAX_SAFE_INTEGER })
/** Up to Java's largest long, which means without a limit. */
const long = (min = 0) => integerSetting({ min, max: 2 ** 63 })
const bytes = () => integerSetting({ min: 0, max: Number.MAX_SAFE_INTEGER })
const text = () => z.string().overwrite(trimAsJava)
const name = () => text().min(1, 'expected a name')
/** As it is written: white space is part of a password. */
const verbatim = () => z.string()

const BY_DURATION = 'by_duration:'
const startPoint = () =>
  text().transform((written, context): StartPoint | 'none' => {
    const word = (['earliest', 'latest', 'none'] as const).find((known) => known === written.toLowerCase())
    const sinceMs = written.startsWith(BY_DURATION) ? parseJavaDuration(written.slice(BY_DURATION.length)) : undefined
    if (word !== undefined) return word
    if (sinceMs !== undefined && sinceMs >= 0) return { sinceMs }
    context.addIssue({
      code: 'custom',
      message: `expected one of earliest, latest, none, or ${BY_DURATION}PnDTnHnMn.nS`,
    })
    return z.NEVER
  })

/** Settings of connections and of requests. A client that sets one of them has connections of its own. */
export const CONNECTION_SETTINGS = {
  'bootstrap.servers': of(text().optional(), 'names the brokers that are tried first'),
  'client.id': of(text().optional(), 'is sent with each request, for the logs and quotas of the brokers'),
  'client.dns.lookup': of(
    enumSetting(['use_all_dns_ips', 'resolve_canonical_bootstrap_servers_only']).default('use_all_dns_ips'),
    'selects how names are resolved, which happens again for each connection',
  ),
  'connections.max.idle.ms': of(
    integerSetting({ min: -1, max: Number.MAX_SAFE_INTEGER }).default(540_000),
    'closes a connection that was not used for this time; -1: never',
  ),
  'default.api.timeout.ms': of(
    milliseconds().default(60_000),
    'limits a call of the client with all its requests and retries; also for producers',
    ['consumer', 'admin'],
  ),
  'metadata.recovery.rebootstrap.trigger.ms': of(
    milliseconds().default(300_000),
    'is how long no broker may answer a request for metadata until the bootstrap servers are used again',
  ),
  'metadata.recovery.strategy': of(
    enumSetting(['rebootstrap', 'none']).default('rebootstrap'),
    'decides whether the bootstrap servers are used again when no known broker can be reached',
  ),
  'reconnect.backoff.max.ms': of(
    milliseconds().default(1_000),
    'is the longest pause between two connections to a broker',
  ),
  'reconnect.backoff.ms': of(
    milliseconds().default(50),
    'is the pause after a failed connection to a broker, which doubles with each',
  ),
  'request.timeout.ms': of(
    milliseconds(1).default(30_000),
    'limits a request, and how long the broker may take to replicate records or to change a topic',
  ),
  'retry.backoff.max.ms': of(
    milliseconds().default(RETRY_BACKOFF.maxMs),
    'is the longest pause before a request is repeated',
  ),
  'retry.backoff.ms': of(
    milliseconds().default(RETRY_BACKOFF.firstMs),
    'is the pause before a request is repeated, which doubles with each',
  ),
  'sasl.jaas.config': of(verbatim().optional(), 'has the credentials of the login'),
  'sasl.mechanism': of(text().optional(), 'selects the login; the default is PLAIN'),
  'sasl.login.callback.handler.class': of(text().optional(), 'names the login of AWS MSK IAM, or one of Kafka’s own'),
  'sasl.oauthbearer.client.credentials.client.id': of(text().optional(), 'is the client of OAUTHBEARER'),
  'sasl.oauthbearer.client.credentials.client.secret': of(verbatim().optional(), 'is the secret of that client'),
  'sasl.oauthbearer.header.urlencode': of(text().optional(), 'decides whether these credentials are encoded'),
  'sasl.oauthbearer.jwt.retriever.class': of(text().optional(), 'names one of Kafka’s own retrievers of tokens'),
  'sasl.oauthbearer.scope': of(text().optional(), 'is the scope of the requested tokens'),
  // Not in Kafka: instead of sasl.jaas.config.
  'sasl.password': of(verbatim().optional(), 'is the password of the login'),
  'sasl.password.location': of(text().optional(), 'names the file with that password, which is read for each login'),
  'sasl.username': of(text().optional(), 'is the user of the login'),
  'sasl.oauthbearer.token.endpoint.url': of(text().optional(), 'is where OAUTHBEARER gets its tokens'),
  'security.protocol': of(text().optional(), 'selects TLS and login'),
  'socket.connection.setup.timeout.max.ms': of(
    milliseconds(1).default(30_000),
    'is the longest time that a connection may take to be set up',
  ),
  'socket.connection.setup.timeout.ms': of(
    milliseconds(1).default(10_000),
    'limits the setup of a connection, and doubles with each that fails',
  ),
  'ssl.cipher.suites': of(text().optional(), 'lists the cipher suites, with the names of Java or OpenSSL'),
  'ssl.enabled.protocols': of(text().optional(), 'lists the versions of TLS: TLSv1.2, TLSv1.3'),
  'ssl.endpoint.identification.algorithm': of(
    text().optional(),
    'decides whether the certificate must match the host; empty: it need not',
  ),
  'ssl.key.password': of(verbatim().optional(), 'is the password of the private key'),
  'ssl.keystore.certificate.chain': of(text().optional(), 'has the certificates of the client, in PEM'),
  'ssl.keystore.key': of(text().optional(), 'has the private key of the client, in PEM'),
  'ssl.keystore.location': of(
    text().optional(),
    'names the file with certificate and key, which is read again when it changes',
  ),
  'ssl.keystore.password': of(verbatim().optional(), 'is the password of the keystore'),
  'ssl.keystore.type': of(text().optional(), 'is PEM or PKCS12; without it, the content decides'),
  'ssl.truststore.certificates': of(text().optional(), 'has the trusted certificates, in PEM'),
  'ssl.truststore.location': of(
    text().optional(),
    'names the file with trusted certificates, which is read again when it changes',
  ),
  'ssl.truststore.password': of(verbatim().optional(), 'is the password of the truststore'),
  'ssl.truststore.type': of(text().optional(), 'is PEM or PKCS12; without it, the content decides'),
} satisfies Record<string, Honoured>

/** Settings of a producer, which do not need a connection of its own. */
export const PRODUCER_SETTINGS = {
  'batch.size': only(
    'producer',
    integerSetting({ min: 0 }),
    'limits a batch of several records; the default is 1,000,000',
  ),
  'buffer.memory': only('producer', bytes(), 'limits the bytes of unacknowledged records'),
  'compression.type': only(
    'producer',
    enumSetting(['none', 'gzip', 'snappy', 'lz4', 'zstd']),
    'selects the compression of batches',
  ),
  'delivery.timeout.ms': only('producer', milliseconds(1), 'limits the delivery of a record with all its retries'),
  'max.block.ms': only(
    'producer',
    long(),
    'limits the wait of a send for a topic, its metadata or memory, and each call of a transaction',
  ),
  'max.in.flight.requests.per.connection': only(
    'producer',
    integerSetting({ min: 1 }),
    'limits the requests to one broker that wait for a response, to at most 5',
  ),
  'max.request.size': only('producer', integerSetting({ min: 0 }), 'limits a record, before compression'),
  'metadata.max.age.ms': of(
    milliseconds().optional(),
    'is how often topics and partitions are looked up again; the default of consumers is 30,000',
  ),
  'transaction.timeout.ms': only('producer', milliseconds(1), 'is when the broker aborts a transaction'),
} satisfies Record<string, Honoured>

/** Settings of a consumer, which do not need a connection of its own. */
export const CONSUMER_SETTINGS = {
  'auto.offset.reset': only(
    'consumer',
    startPoint(),
    'is where a partition without a committed offset starts; sinks: earliest by default',
  ),
  'fetch.max.bytes': only(
    'consumer',
    integerSetting({ min: 1 }),
    'limits the bytes of a response; the default is 1,048,576',
  ),
  'fetch.max.wait.ms': only('consumer', milliseconds(), 'is how long a broker waits for records before it responds'),
  'fetch.min.bytes': only('consumer', integerSetting({ min: 0 }), 'is the bytes for which a broker waits that long'),
  'group.id': only('consumer', name(), 'is the group of a sink; only as an override'),
  'group.instance.id': only(
    'consumer',
    name(),
    'makes the member static; only as an override. Sinks have one by default',
  ),
  'heartbeat.interval.ms': only('consumer', milliseconds(1), 'is the interval of heartbeats'),
  'isolation.level': only(
    'consumer',
    enumSetting(['read_committed', 'read_uncommitted']),
    'decides whether records of open and aborted transactions are read; the default is read_committed',
  ),
  'max.poll.interval.ms': only(
    'consumer',
    milliseconds(1),
    'is how long a task may process records before it loses its partitions',
  ),
  'max.poll.records': only('consumer', integerSetting({ min: 1 }), 'limits the records of one `put`'),
  'metadata.max.age.ms': PRODUCER_SETTINGS['metadata.max.age.ms'],
  'session.timeout.ms': only('consumer', milliseconds(1), 'is how long the member may send no heartbeat'),
} satisfies Record<string, Honoured>

const ADMIN_SETTINGS = { 'metadata.max.age.ms': PRODUCER_SETTINGS['metadata.max.age.ms'] }

/** Settings that no connection of its own needs, by client. */
export const OWN_SETTINGS = { producer: PRODUCER_SETTINGS, consumer: CONSUMER_SETTINGS, admin: ADMIN_SETTINGS }

type WithReason = { readonly clients: readonly ClientKind[]; readonly reason: string }

const BUILT_IN = 'Node.js provides the cryptography'
const LOGIN = 'the logins are built in'
const TOKEN = 'a request for a token has 10 s'
const METRICS = 'metrics are served in Prometheus format at /metrics'
const NO_KERBEROS = 'there is no Kerberos login'
const CONNECT = 'the worker sets it, as in Kafka Connect'
const VALIDATES = 'it is for brokers, which validate tokens'

/** Settings without effect. A key that ends in `*` stands for a prefix. */
export const INEFFECTIVE_SETTINGS: Readonly<Record<string, WithReason>> = {
  acks: { clients: ['producer'], reason: 'every record waits for all in-sync replicas, as with `all`' },
  'allow.auto.create.topics': { clients: ['consumer'], reason: 'no consumer creates topics' },
  'auto.commit.interval.ms': { clients: ['consumer'], reason: 'tasks commit every offset.flush.interval.ms' },
  'auto.include.jmx.reporter': every(METRICS),
  'bootstrap.controllers': { clients: ['admin'], reason: 'requests are sent to brokers, which forward them' },
  'bootstrap.resolve.timeout.ms': every('names are resolved again for each connection'),
  'buffer.memory.allocation.strategy': { clients: ['producer'], reason: 'a batch takes the memory of its records' },
  'check.crcs': { clients: ['consumer'], reason: 'checksums are always verified' },
  'client.rack': { clients: ['producer', 'consumer'], reason: 'records are read from the leaders, and spread evenly' },
  'compression.gzip.level': { clients: ['producer'], reason: 'the default level is used' },
  'compression.lz4.level': { clients: ['producer'], reason: 'the default level is used' },
  'compression.zstd.level': { clients: ['producer'], reason: 'the default level is used' },
  'config.providers': every('the config providers of the worker replace placeholders'),
  'enable.auto.commit': { clients: ['consumer'], reason: CONNECT },
  'enable.idempotence': { clients: ['producer'], reason: 'every producer is idempotent' },
  'enable.metrics.push': every(METRICS),
  'exclude.internal.topics': { clients: ['consumer'], reason: 'internal topics are never matched' },
  'group.protocol': { clients: ['consumer'], reason: 'the classic protocol is used' },
  'group.remote.assignor': { clients: ['consumer'], reason: 'the classic protocol is used' },
  'interceptor.classes': { clients: ['producer', 'consumer'], reason: 'Java classes are not loaded' },
  'internal.throw.on.fetch.stable.offset.unsupported': {
    clients: ['consumer'],
    reason: 'every supported broker has stable offsets',
  },
  'key.deserializer': { clients: ['consumer'], reason: CONNECT },
  'key.serializer': { clients: ['producer'], reason: CONNECT },
  'linger.ms': { clients: ['producer'], reason: 'batches grow while earlier ones are on their way' },
  'max.partition.fetch.bytes': { clients: ['consumer'], reason: 'the partitions of a request share fetch.max.bytes' },
  'metadata.cluster.check.enable': every('brokers are not told which node of which cluster a connection is for'),
  'metadata.max.idle.ms': { clients: ['producer'], reason: 'the number of partitions of a topic is kept' },
  'metric.reporters': every(METRICS),
  'metrics.*': every(METRICS),
  'partition.assignment.strategy': { clients: ['consumer'], reason: 'ranges are assigned, as by RangeAssignor' },
  'partitioner.adaptive.partitioning.enable': {
    clients: ['producer'],
    reason: 'records without a key are spread evenly',
  },
  'partitioner.availability.timeout.ms': { clients: ['producer'], reason: 'records without a key are spread evenly' },
  'partitioner.rack.aware': { clients: ['producer'], reason: 'records without a key are spread evenly' },
  'receive.buffer.bytes': every('the system sizes the buffers of sockets'),
  retries: {
    clients: ['producer', 'admin'],
    reason: 'delivery.timeout.ms and default.api.timeout.ms limit the retries',
  },
  'sasl.client.callback.handler.class': every(LOGIN),
  'sasl.kerberos.*': every(NO_KERBEROS),
  'sasl.login.class': every(LOGIN),
  'sasl.login.connect.timeout.ms': every(TOKEN),
  'sasl.login.read.timeout.ms': every(TOKEN),
  'sasl.login.refresh.*': every('tokens are requested again before they expire'),
  'sasl.login.retry.*': every('the next connection requests the token again'),
  'sasl.oauthbearer.allow.unverified.*': every(VALIDATES),
  'sasl.oauthbearer.assertion.*': every('tokens are requested with client credentials'),
  'sasl.oauthbearer.clock.skew.seconds': every(VALIDATES),
  'sasl.oauthbearer.expected.*': every(VALIDATES),
  'sasl.oauthbearer.jwks.*': every(VALIDATES),
  'sasl.oauthbearer.jwt.validator.class': every(VALIDATES),
  'sasl.oauthbearer.scope.claim.name': every(VALIDATES),
  'sasl.oauthbearer.sub.claim.name': every(VALIDATES),
  'security.providers': every(BUILT_IN),
  'send.buffer.bytes': every('the system sizes the buffers of sockets'),
  'share.*': { clients: ['consumer'], reason: 'tasks read as consumers, not as share consumers' },
  'ssl.keymanager.algorithm': every(BUILT_IN),
  'ssl.protocol': every('ssl.enabled.protocols selects the versions'),
  'ssl.provider': every(BUILT_IN),
  'ssl.secure.random.implementation': every(BUILT_IN),
  'ssl.trustmanager.algorithm': every(BUILT_IN),
  'value.deserializer': { clients: ['consumer'], reason: CONNECT },
  'value.serializer': { clients: ['producer'], reason: CONNECT },
}

/** Settings whose loss would change where records go, or whom a client trusts. `unless`: the value that has this effect anyway. */
export const REJECTED_SETTINGS: Readonly<Record<string, WithReason & { readonly unless?: string }>> = {
  'partitioner.class': {
    clients: ['producer'],
    reason: 'Java classes are not loaded: records with a key go to the partition that Kafka’s default selects',
  },
  'partitioner.ignore.keys': {
    clients: ['producer'],
    unless: 'false',
    reason: 'records with a key go to the partition that Kafka’s default selects',
  },
  'ssl.engine.factory.class': every('Java classes are not loaded: set ssl.keystore.* and ssl.truststore.*'),
  'transaction.two.phase.commit.enable': {
    clients: ['producer'],
    unless: 'false',
    reason: 'a transaction is committed in one phase',
  },
  'transactional.id': {
    clients: ['producer'],
    reason: 'each task has an id of its own: set exactly.once.source.support=enabled on the worker',
  },
}

export function isConnectionSetting(key: string): boolean {
  return Object.hasOwn(CONNECTION_SETTINGS, key)
}

/** What Weir does with a setting of such a client. `unknown`: Kafka's client has no such setting either. */
export type SettingTreatment = 'honoured' | 'ineffective' | 'rejected' | 'unknown'

export function treatmentOf(kind: ClientKind, key: string): SettingTreatment {
  const isOf = ({ clients }: { readonly clients: readonly ClientKind[] } = { clients: [] }) => clients.includes(kind)
  if (isConnectionSetting(key) || Object.hasOwn(OWN_SETTINGS[kind], key)) return 'honoured'
  if (isOf(REJECTED_SETTINGS[key])) return 'rejected'
  return isOf(ineffectiveSetting(key)) ? 'ineffective' : 'unknown'
}

/** The settings of the connection itself that have no effect, and why. Others may be those of a program. */
export function ineffectiveConnectionSettings(keys: Iterable<string>): Readonly<Record<string, string>> {
  const found = [...keys].filter((key) => treatmentOf('admin', key) === 'ineffective')
  return Object.fromEntries(found.map((key) => [key, ineffectiveSetting(key)?.reason ?? '']))
}

/** Why a setting has no effect. */
export function ineffectiveSetting(key: string): WithReason | undefined {
  if (Object.hasOwn(INEFFECTIVE_SETTINGS, key)) return INEFFECTIVE_SETTINGS[key]
  const prefix = Object.keys(INEFFECTIVE_SETTINGS).find((one) => one.endsWith('*') && key.startsWith(one.slice(0, -1)))
  return prefix === undefined ? undefined : INEFFECTIVE_SETTINGS[prefix]
}

/** Why a value of a setting is rejected; undefined if it is not. */
export function rejectionOf(kind: ClientKind, key: string, value: string): string | undefined {
  if (treatmentOf(kind, key) !== 'rejected') return undefined
  const { unless, reason } = REJECTED_SETTINGS[key]!
  return trimAsJava(value).toLowerCase() === unless ? undefined : reason
}

/** The types of these settings, for an object that parses them. */
export function typesOf<Settings extends Record<string, Honoured>>(settings: Settings) {
  const types = Object.entries(settings).map(([key, { type }]) => [key, type])
  return Object.fromEntries(types) as { [Key in keyof Settings]: Settings[Key]['type'] }
}

function of<Type extends z.ZodType>(type: Type, effect: string, clients: readonly ClientKind[] = CLIENT_KINDS) {
  return { type, effect, clients }
}

function only<Type extends z.ZodType>(kind: ClientKind, type: Type, effect: string) {
  return of(type.optional(), effect, [kind])
}

function every(reason: string): WithReason {
  return { clients: CLIENT_KINDS, reason }
}
