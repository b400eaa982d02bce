import { z } from 'zod'
import { COMPATIBILITY_LEVELS } from '../clients/registry-client.ts'
import { booleanSetting, enumSetting, integerSetting, listSetting } from '../config/settings.ts'
import { consoleShape } from '../console/console-settings.ts'
import { accessControlShape } from '../http/access-control-settings.ts'
import { auditLogShape } from '../http/audit-log-settings.ts'
import { httpLimitShape } from '../http/limit-settings.ts'
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
    .describe(`Rejected: ${reason}.`)

/** All settings of the registry, in the order of the generated page `docs/config/registry.md`. */
export const shape = z.object({
  listeners: listSetting()
    .default([])
    .describe(
      'Addresses on which the registry listens: `http://HOST:PORT` or `https://HOST:PORT`. Empty: `http://0.0.0.0:8081`.',
    ),
  port: integerSetting({ min: 0, max: 65_535 })
    .optional()
    .describe('Port on all addresses. Used only if `listeners` is empty.'),
  'host.name': text().describe(
    'Host name or address at which other instances reach this one. Default: that of its listener.',
  ),
  'host.port': integerSetting({ min: 1, max: 65_535 })
    .optional()
    .describe('Port at which other instances reach this one. Default: that of its listener.'),
  'inter.instance.protocol': enumSetting(['http', 'https'])
    .default('http')
    .describe('Scheme of the listener that other instances use. If no listener has it, they use the first listener.'),
  'inter.instance.headers.whitelist': listSetting()
    .default([])
    .describe('Additional headers that are forwarded to the leader.'),
  'shutdown.graceful.ms': milliseconds(1_000, 0).describe(
    'Time for running requests to complete on shutdown, in milliseconds.',
  ),
  'response.mediatype.default': enumSetting(MEDIA_TYPES)
    .default(MEDIA_TYPES[0])
    .describe('Media type of responses to clients that accept any type.'),
  'compression.enable': booleanSetting()
    .default(true)
    .describe('Compresses large responses with gzip, for clients that accept it.'),
  'access.control.allow.origin': text().describe(
    'Origins of web pages that may call the registry (CORS), or `*`. Empty: none. Without authentication, a local registry also serves pages at the hosts of these origins.',
  ),
  'access.control.allow.methods': text('GET,POST,PUT,DELETE,HEAD').describe('HTTP methods that such pages may use.'),
  'access.control.allow.headers': text().describe('Headers that such pages may send. Empty: any.'),
  'size.limit.filter.enabled': booleanSetting()
    .default(false)
    .describe('Enables `size.limit.filter.max.request.body.size`. Otherwise, the limit is 10 MiB.'),
  'size.limit.filter.max.request.body.size': integerSetting({ min: 1 })
    .default(1_048_576)
    .describe('Maximum size of a request body, in bytes.'),
  ...httpLimitShape,
  debug: booleanSetting().default(false).describe('Enables debug logging.'),

  'brokerstore.bootstrap.servers': text().describe('Brokers of the Kafka cluster with the topic, `HOST:PORT,…`.'),
  'brokerstore.topic': z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .default('_schemas')
    .describe('Topic that stores schemas, configs and modes.'),
  'brokerstore.topic.replication.factor': integerSetting({ min: 1, max: 32_767 })
    .default(3)
    .describe(
      'Replication factor of a new topic. With fewer brokers, the topic is created with one replica for each, and the log warns.',
    ),
  'brokerstore.topic.skip.validation': booleanSetting()
    .default(false)
    .describe(
      'Skips the checks that the topic is compacted, has one partition, and has not been deleted or truncated.',
    ),
  'brokerstore.timeout.ms': milliseconds(5_000).describe('Timeout of a write to the topic, in milliseconds.'),
  'brokerstore.init.timeout.ms': milliseconds(60_000).describe(
    'Timeout of reading the topic at the start, in milliseconds.',
  ),

  'schema.registry.group.id': z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .default('schema-registry')
    .describe('Consumer group in which the instances elect a leader.'),
  'master.eligibility': booleanSetting().default(true).describe('Whether this instance can become the leader.'),
  'leader.eligibility.deferred': booleanSetting()
    .default(false)
    .describe(
      'Whether this instance can become the leader only after all other eligible instances have left the group: for the takeover of a group of Confluent’s registry. It does not write while its group elects a leader.',
    ),
  'leader.election.sticky': booleanSetting()
    .default(true)
    .describe('Whether the leader stays the leader when other instances join or leave.'),
  'leader.connect.timeout.ms': milliseconds(60_000).describe('Timeout of connecting to the leader, in milliseconds.'),
  'leader.read.timeout.ms': milliseconds(60_000).describe('Timeout of a request to the leader, in milliseconds.'),
  'brokergroup.session.timeout.ms': milliseconds(10_000).describe(
    'Time without heartbeats after which an instance is removed from the group, in milliseconds.',
  ),
  'brokergroup.heartbeat.interval.ms': milliseconds(3_000).describe(
    'Interval of heartbeats, in milliseconds. Must be below `brokergroup.session.timeout.ms`.',
  ),
  'brokergroup.rebalance.timeout.ms': milliseconds(300_000).describe(
    'Maximum time that an election waits for an instance, in milliseconds.',
  ),

  'schema.compatibility.level': enumSetting(COMPATIBILITY_LEVELS)
    .default('BACKWARD')
    .describe('Compatibility level if none is configured for the subject, its context or globally.'),
  'mode.mutability': booleanSetting().default(true).describe('Whether modes can be changed.'),
  'associations.enable': booleanSetting().default(true).describe('Serves `/associations`.'),
  'schema.validate.fields': booleanSetting()
    .default(false)
    .describe('Checks reserved field names, if the config of a subject does not set `validateFields`.'),
  'schema.validate.new.schemas': booleanSetting()
    .default(true)
    .describe('Validates new schemas strictly, if the config of a subject does not set `validateNewSchemas`.'),
  'schema.reject.empty.subject': booleanSetting().default(false).describe('Rejects the empty subject name and `*`.'),
  'schema.cache.size': integerSetting({ min: 1 })
    .default(1_000)
    .describe('Maximum number of parsed schemas in the cache.'),
  'schema.cache.expiry.ms': milliseconds(300_000, 0).describe(
    'Time after its last use at which a parsed schema expires, in milliseconds.',
  ),
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
    .describe('Serves the DEK registry for field encryption under `/dek-registry/v1`.'),
  'dek.registry.topic': z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .default('_dek_registry_keys')
    .describe('Topic that stores the keys of the DEK registry.'),
  'dek.registry.max.keys': integerSetting({ min: 1 })
    .default(20_000)
    .describe('No KEK is created while there are more KEKs than this, and no DEK while there are more DEKs.'),
  'kek.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of KEKs.'),
  'kek.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of KEKs.'),
  'dek.subject.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of the subjects of a KEK.'),
  'dek.subject.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of the subjects of a KEK.'),
  'dek.version.search.default.limit': pageSize(LIST_MAX).describe('Page size of lists of the versions of a DEK.'),
  'dek.version.search.max.limit': pageSize(LIST_MAX).describe('Largest page of lists of the versions of a DEK.'),
  'weir.response.profile': enumSetting(['7', '8'])
    .default('8')
    .describe('Version of Confluent Schema Registry whose responses clients get: 7 (up to 7.9), or 8 (8.0 and later).'),

  ...accessControlShape,
  ...auditLogShape,
  ...consoleShape,
  'authentication.realm': text('SchemaRegistry').describe('Realm of BASIC authentication.'),
  'authentication.roles': z
    .string()
    .default('*')
    .transform((roles) => roles.split(',').map((role) => role.trim()))
    .pipe(z.array(z.enum(['*', ...ROLES], `expected * or some of ${ROLES.join(', ')}`)))
    .describe('Roles that may use the registry; `*` is every role.'),
  'authentication.skip.paths': listSetting()
    .default([])
    .describe('Paths that need no authentication. A trailing `/*` matches all paths below.'),
  'metadata.encoder.secret': refused('metadata cannot be encrypted, which this secret requires'),
  registry_authfile: refused(
    'Karapace authentication files are not supported; create a weir.authentication.users.file with weir password',
  ),

  'ssl.keystore.location': text().describe(
    'File with certificate and key of https listeners, PEM or PKCS#12. Reloaded when it changes.',
  ),
  'ssl.keystore.password': text().describe('Password of the keystore.'),
  'ssl.key.password': text().describe('Password of the key, if it differs from that of the keystore.'),
  'ssl.keystore.type': text().describe('`PEM` or `PKCS12`. Default: detected from the content.'),
  'ssl.keystore.certificate.chain': text().describe('Certificates in PEM, instead of a file.'),
  'ssl.keystore.key': text().describe('Key of the certificates in PEM, instead of a file.'),
  'ssl.truststore.location': text().describe(
    'File with trusted certificates of clients and other instances. Reloaded when it changes.',
  ),
  'ssl.truststore.password': text().describe('Password of the truststore.'),
  'ssl.truststore.type': text().describe('`PEM` or `PKCS12`. Default: detected from the content.'),
  'ssl.truststore.certificates': text().describe('Trusted certificates in PEM, instead of a file.'),
  'ssl.client.authentication': enumSetting(['NONE', 'REQUESTED', 'REQUIRED'])
    .default('NONE')
    .describe('Whether clients are asked for a certificate (`REQUESTED`) or must have one (`REQUIRED`).'),
  'ssl.enabled.protocols': text().describe('TLS versions of https listeners. Empty: `TLSv1.2,TLSv1.3`.'),
  'ssl.cipher.suites': text().describe(
    'Cipher suites of https listeners, with the names of Java or OpenSSL. Empty: those with forward secrecy.',
  ),
  'ssl.endpoint.identification.algorithm': enumSetting(['https', ''])
    .default('https')
    .describe('Whether the certificate of the leader must match its host name. Empty: it need not.'),
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
  'brokerstore.connection.url': 'ZooKeeper is not used: set brokerstore.bootstrap.servers',
  'brokerstore.group.id': 'the topic is read without a consumer group',
  'brokerstore.init.wait.for.reader': 'the registry always reads the whole topic before it serves requests',
  'brokerstore.checkpoint.*': 'no state is stored outside the topic',
  'brokerstore.write.max.retries': 'writes need no retry, because an ID is assigned only once',
  'brokerstore.update.handlers': 'Java classes are not loaded',
  'dek.registry.update.handlers': 'Java classes are not loaded',
  'leader.election.delay': 'an instance always reads the whole topic before it joins the election',
  'schema.providers': 'AVRO, JSON and PROTOBUF are built in; Java classes are not loaded',
  'schema.providers.*': 'references always have exact versions, and remote schemas are never fetched',
  'schema.canonicalize.on.consume': 'a schema is returned as it was stored',
  'enable.store.health.check': '/readyz reports the health of the store',
  'metadata.encoder.*': 'metadata cannot be encrypted',
  'resource.extension.class': 'Java classes are not loaded; weir.dek.registry.enable serves the DEK registry',
  'init.resource.extension.class': 'Java classes are not loaded',
  'schema.registry.resource.extension.class': 'Java classes are not loaded',
  'resource.static.locations': 'no files are served',
  'inter.instance.listener.name': 'listeners have no names: inter.instance.protocol selects one',
  'enable.fips': 'Node.js provides the cryptography',
  'enable.fips.mode': 'Node.js provides the cryptography',
  'response.mediatype.preferred': 'all media types are supported; response.mediatype.default selects the preferred one',
  'request.timeout.ms': 'leader.read.timeout.ms and brokerstore.timeout.ms limit every request',
  'websocket.*': 'WebSockets are not supported',
  'metrics.*': 'metrics are served in Prometheus format at /metrics, not by JMX',
  'ssl.*': 'Node.js provides the cryptography',
  'jmx.*': 'metrics are served in Prometheus format at /metrics, not by JMX',
  'heap.opts': 'the registry does not run on Java',
  opts: 'the registry does not run on Java',
  'jvm.*': 'the registry does not run on Java',
  'log4j.*': 'set debug=true for debug logging',
}
