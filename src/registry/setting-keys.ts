import { z } from 'zod'
import { COMPATIBILITY_LEVELS } from '../clients/registry.ts'
import { booleanSetting, enumSetting, integerSetting, listSetting } from '../config/settings.ts'
import { accessControlShape } from '../http/access-control-settings.ts'
import { auditLogShape } from '../http/audit-log-settings.ts'
import { httpLimitShape } from '../http/limits.ts'
import { ROLES } from '../http/users.ts'

const LIST_MAX = 2 ** 31 - 1

export const MEDIA_TYPES = [
  'application/vnd.schemaregistry.v1+json',
  'application/vnd.schemaregistry+json',
  'application/json',
] as const

const text = (fallback = '') => z.string().trim().default(fallback)
const milliseconds = (fallback: number, min = 1) => integerSetting({ min }).default(fallback)
const pageSize = (fallback: number) => integerSetting({ min: 1 }).default(fallback)

/** A setting that is rejected if it is set, because ignoring it would be unsafe. */
const refused = (reason: string) =>
  text()
    .refine((value) => value === '', reason)
    .describe(`Refused: ${reason}.`)

/** All settings of the registry, in the order of its documentation page. */
export const shape = z.object({
  listeners: listSetting()
    .default([])
    .describe('Where the registry answers: `http://HOST:PORT` or `https://HOST:PORT`. None: `http://0.0.0.0:8081`.'),
  port: integerSetting({ min: 0, max: 65_535 })
    .optional()
    .describe('Port on all addresses, where there are no listeners.'),
  'host.name': text().describe(
    'Name or address by which other instances reach this one. Default: that of its listener.',
  ),
  'host.port': integerSetting({ min: 1, max: 65_535 })
    .optional()
    .describe('Port by which other instances reach this one. Default: that of its listener.'),
  'inter.instance.protocol': enumSetting(['http', 'https'])
    .default('http')
    .describe('Which listener other instances use; the first listener when there is none of this kind.'),
  'inter.instance.headers.whitelist': listSetting()
    .default([])
    .describe('More headers that are passed on to the leader.'),
  'shutdown.graceful.ms': milliseconds(1_000, 0).describe('How long requests may go on after the end was asked for.'),
  'response.mediatype.default': enumSetting(MEDIA_TYPES)
    .default(MEDIA_TYPES[0])
    .describe('What is answered to clients that take anything.'),
  'compression.enable': booleanSetting()
    .default(true)
    .describe('Whether long answers go in gzip to clients that take it.'),
  'access.control.allow.origin': text().describe(
    'Web pages that may call the registry: `*` or origins. None: no page.',
  ),
  'access.control.allow.methods': text('GET,POST,PUT,DELETE,HEAD').describe('What such pages may do.'),
  'access.control.allow.headers': text().describe('Headers such pages may send. None: any.'),
  'size.limit.filter.enabled': booleanSetting()
    .default(false)
    .describe('Whether the next setting counts; else 10 MiB do.'),
  'size.limit.filter.max.request.body.size': integerSetting({ min: 1 })
    .default(1_048_576)
    .describe('Largest body of a request, in bytes.'),
  ...httpLimitShape,
  debug: booleanSetting().default(false).describe('Logs more.'),

  'brokerstore.bootstrap.servers': text().describe('Brokers that hold the topic, `HOST:PORT,…`.'),
  'brokerstore.topic': z
    .string()
    .trim()
    .min(1, 'a name is needed')
    .default('_schemas')
    .describe('Topic that holds everything.'),
  'brokerstore.topic.replication.factor': integerSetting({ min: 1, max: 32_767 })
    .default(3)
    .describe('Replicas of the topic when it is made; as many as there are brokers, when there are fewer.'),
  'brokerstore.topic.skip.validation': booleanSetting().default(false).describe('Takes the topic as it is.'),
  'brokerstore.timeout.ms': milliseconds(5_000).describe('How long one write may take.'),
  'brokerstore.init.timeout.ms': milliseconds(60_000).describe('How long reading the topic may take at the start.'),

  'schema.registry.group.id': z
    .string()
    .trim()
    .min(1, 'a name is needed')
    .default('schema-registry')
    .describe('Group of the instances that elect a leader.'),
  'master.eligibility': booleanSetting().default(true).describe('Whether this instance may become the leader.'),
  'leader.election.sticky': booleanSetting()
    .default(true)
    .describe('Whether a leader stays one when instances come and go.'),
  'leader.connect.timeout.ms': milliseconds(60_000).describe('How long reaching the leader may take.'),
  'leader.read.timeout.ms': milliseconds(60_000).describe('How long the leader may take to answer.'),
  'brokergroup.session.timeout.ms': milliseconds(10_000).describe(
    'How long an instance may be silent before another one leads.',
  ),
  'brokergroup.heartbeat.interval.ms': milliseconds(3_000).describe('How often an instance says that it lives.'),
  'brokergroup.rebalance.timeout.ms': milliseconds(300_000).describe('How long an election waits for an instance.'),

  'schema.compatibility.level': enumSetting(COMPATIBILITY_LEVELS)
    .default('BACKWARD')
    .describe('Level where none is configured.'),
  'mode.mutability': booleanSetting().default(true).describe('Whether modes may be changed.'),
  'associations.enable': booleanSetting().default(true).describe('Serves /associations.'),
  'schema.validate.fields': booleanSetting().default(false).describe('Checks reserved field names.'),
  'schema.validate.new.schemas': booleanSetting()
    .default(true)
    .describe('Checks new schemas to the letter of their language.'),
  'schema.reject.empty.subject': booleanSetting().default(false).describe('Refuses the subject without a name.'),
  'schema.cache.size': integerSetting({ min: 1 }).default(1_000).describe('How many schemas are held parsed.'),
  'schema.cache.expiry.ms': milliseconds(300_000, 0).describe('How long an unused one is held.'),
  'schema.search.default.limit': pageSize(1_000).describe('Page size of `GET /schemas`.'),
  'schema.search.max.limit': pageSize(1_000).describe('Largest page of `GET /schemas`.'),
  'subject.search.default.limit': pageSize(LIST_MAX).describe('Page size of `GET /subjects`.'),
  'subject.search.max.limit': pageSize(LIST_MAX).describe('Largest page of `GET /subjects`.'),
  'subject.version.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of versions.'),
  'subject.version.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of versions.'),
  'context.search.default.limit': pageSize(LIST_MAX).describe('Page size of `GET /contexts`.'),
  'context.search.max.limit': pageSize(LIST_MAX).describe('Largest page of `GET /contexts`.'),
  'weir.dek.registry.enable': booleanSetting()
    .default(true)
    .describe('Serves the DEK registry under `/dek-registry/v1`, for the encryption of fields.'),
  'dek.registry.topic': z
    .string()
    .trim()
    .min(1, 'a name is needed')
    .default('_dek_registry_keys')
    .describe('Topic that holds the keys of the DEK registry.'),
  'dek.registry.max.keys': integerSetting({ min: 1 })
    .default(20_000)
    .describe('How many KEKs, and how many DEKs, may exist before no further one is created.'),
  'kek.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of KEKs.'),
  'kek.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of KEKs.'),
  'dek.subject.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of the subjects of a KEK.'),
  'dek.subject.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of the subjects of a KEK.'),
  'dek.version.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of the versions of a DEK.'),
  'dek.version.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of the versions of a DEK.'),
  'weir.response.profile': enumSetting(['7', '8'])
    .default('8')
    .describe('Whose answers clients get: those of the original up to 7.9, or from 8.0 on.'),

  ...accessControlShape,
  ...auditLogShape,
  'authentication.realm': text('SchemaRegistry').describe('What they log in to.'),
  'authentication.roles': z
    .string()
    .default('*')
    .transform((roles) => roles.split(',').map((role) => role.trim()))
    .pipe(z.array(z.enum(['*', ...ROLES], `expected * or some of ${ROLES.join(', ')}`)))
    .describe('Who may come in at all.'),
  'authentication.skip.paths': listSetting()
    .default([])
    .describe('Paths that need no log-in; `/*` at the end takes all below.'),
  'metadata.encoder.secret': refused('metadata is not encrypted here, and a secret says that it has to be'),
  registry_authfile: refused('it holds no roles; make a weir.authentication.users.file with weir password'),

  'ssl.keystore.location': text().describe(
    'Certificate and key of https listeners, PEM or PKCS#12; read again when it changes.',
  ),
  'ssl.keystore.password': text().describe('Its password.'),
  'ssl.key.password': text().describe("The key's password, where it differs."),
  'ssl.keystore.type': text().describe('`PEM` or `PKCS12`; found out when it is absent.'),
  'ssl.keystore.certificate.chain': text().describe('The certificates themselves, PEM, instead of a file.'),
  'ssl.keystore.key': text().describe('Their key, PEM.'),
  'ssl.truststore.location': text().describe(
    'Certificates that are trusted, of clients and of other instances; read again when it changes.',
  ),
  'ssl.truststore.password': text().describe('Its password.'),
  'ssl.truststore.type': text().describe('`PEM` or `PKCS12`; found out when it is absent.'),
  'ssl.truststore.certificates': text().describe('The certificates themselves, PEM, instead of a file.'),
  'ssl.client.authentication': enumSetting(['NONE', 'REQUESTED', 'REQUIRED'])
    .default('NONE')
    .describe('Whether clients show a certificate of their own.'),
  'ssl.enabled.protocols': text().describe('Versions of TLS of https listeners. None: `TLSv1.2,TLSv1.3`.'),
  'ssl.cipher.suites': text().describe(
    'Cipher suites of https listeners, by the names of Java or OpenSSL. None: those with forward secrecy.',
  ),
  'ssl.endpoint.identification.algorithm': enumSetting(['https', ''])
    .default('https')
    .describe("Whether the leader's certificate has to name its host; empty: it need not."),
})

/** Confluent's and older names → the documented name. */
export const aliases: Readonly<Record<string, string>> = {
  'kafkastore.*': 'brokerstore.*',
  'kafkagroup.*': 'brokergroup.*',
  'leader.eligibility': 'master.eligibility',
  'avro.compatibility.level': 'schema.compatibility.level',
  'schema.registry.inter.instance.protocol': 'inter.instance.protocol',
  // Karapace's names.
  bootstrap_uri: 'brokerstore.bootstrap.servers',
  topic_name: 'brokerstore.topic',
  group_id: 'schema.registry.group.id',
  compatibility: 'schema.compatibility.level',
  master_eligibility: 'master.eligibility',
  advertised_hostname: 'host.name',
}

/** Confluent's settings that are accepted but have no effect, with the reason. A name ending in `*` is a prefix. */
export const withoutEffect: Readonly<Record<string, string>> = {
  'brokerstore.connection.url': 'ZooKeeper is gone: brokerstore.bootstrap.servers names the brokers',
  'brokerstore.group.id': 'the topic is read without a group',
  'brokerstore.init.wait.for.reader': 'the registry always reads the topic before it answers',
  'brokerstore.checkpoint.*': 'nothing is kept outside the topic',
  'brokerstore.write.max.retries': 'an id that is taken is never tried',
  'brokerstore.update.handlers': 'Java classes are not loaded',
  'dek.registry.update.handlers': 'Java classes are not loaded',
  'leader.election.delay': 'an instance always knows the topic before it stands for election',
  'associations.enable': 'there are no associations here; records of them are left as they are',
  'schema.providers': 'AVRO, JSON and PROTOBUF are built in, Java classes are not loaded',
  'schema.providers.*': 'references are always exact, and remote schemas are never fetched',
  'schema.canonicalize.on.consume': 'a schema is answered as it was stored',
  'enable.store.health.check': '/readyz tells it',
  'metadata.encoder.*': 'metadata is not encrypted here',
  'resource.extension.class': 'Java classes are not loaded; weir.dek.registry.enable serves the DEK registry',
  'init.resource.extension.class': 'Java classes are not loaded',
  'schema.registry.resource.extension.class': 'Java classes are not loaded',
  'resource.static.locations': 'no files are served',
  'inter.instance.listener.name': 'listeners have no names here: inter.instance.protocol chooses one',
  'enable.fips': 'the cryptography is that of Node.js',
  'enable.fips.mode': 'the cryptography is that of Node.js',
  'response.mediatype.preferred': 'all three media types are answered; response.mediatype.default chooses the first',
  'request.timeout.ms': 'leader.read.timeout.ms and brokerstore.timeout.ms bound every request',
  'websocket.*': 'there are no websockets here',
  'metrics.*': 'metrics are in Prometheus form at /metrics, there is no JMX',
  'ssl.*': 'the cryptography is that of Node.js',
  'jmx.*': 'metrics are in Prometheus form at /metrics, there is no JMX',
  'heap.opts': 'there is no Java here',
  opts: 'there is no Java here',
  'jvm.*': 'there is no Java here',
  'log4j.*': 'debug=true logs more',
}
