import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { UserError } from '../common/errors.ts'
import { trimAsJava } from '../common/trim-as-java.ts'
import {
  booleanSetting,
  enumSetting,
  integerSetting,
  listSetting,
  readSettings,
  type Setting,
  type SettingsSpec,
} from '../config/settings.ts'
import { settingsFromEnvironment } from '../config/settings-sources.ts'
import { consoleShape } from '../console/console-settings.ts'
import {
  accessControlSettingsError,
  accessControlShape,
  requiresAuthentication,
} from '../http/access-control-settings.ts'
import { auditLogShape } from '../http/audit-log-settings.ts'
import { httpLimitShape } from '../http/limit-settings.ts'
import { DISCOVERY_MODES } from '../java/discovery/discover-plugins.ts'
import { clientProblems } from './configuration/client-settings.ts'
import { parseOverridePolicy } from './model/override-policy.ts'

const LONG_MAX = Number.MAX_SAFE_INTEGER
const text = (fallback: string) => z.string().overwrite(trimAsJava).default(fallback)
const milliseconds = (fallback: number, max = LONG_MAX) => integerSetting({ min: 0, max }).default(fallback)
/** -1 means the default of the brokers. */
const brokerCount = (fallback: number, max = 2 ** 31 - 1) =>
  integerSetting({ max })
    .refine(
      (count) => count === -1 || count >= 1,
      `expected a whole number from 1 to ${max}, or -1 for the default of the brokers`,
    )
    .meta({ takes: `1 to ${max}, or -1` })
    .default(fallback)
const replicationFactor = () => brokerCount(3, 32_767)

/** Kafka Connect's keys. Its required ones have defaults here, so that a worker starts with none. */
const shape = z.object({
  'bootstrap.servers': text('localhost:9092'),
  'client.id': text(''),
  'group.id': z.string().overwrite(trimAsJava).min(1, 'a name is needed').default('connect-cluster'),
  'session.timeout.ms': milliseconds(10_000),
  'rebalance.timeout.ms': milliseconds(60_000),
  'worker.sync.timeout.ms': milliseconds(3_000),
  'heartbeat.interval.ms': milliseconds(3_000),
  'connect.protocol': enumSetting(['compatible', 'sessioned']).default('sessioned'),
  'scheduled.rebalance.max.delay.ms': milliseconds(300_000, 2 ** 31 - 1),
  'exactly.once.source.support': enumSetting(['disabled', 'preparing', 'enabled']).default('disabled'),
  'inter.worker.key.ttl.ms': milliseconds(3_600_000, 2 ** 31 - 1),
  'inter.worker.key.generation.algorithm': text('HmacSHA256'),
  'inter.worker.key.size': integerSetting({ min: 8 }).optional(),
  'inter.worker.signature.algorithm': text('HmacSHA256'),
  'inter.worker.verification.algorithms': listSetting().default(['HmacSHA256']),
  'inter.worker.requests.unsigned': enumSetting(['refuse', 'allow']).default('refuse'),

  'config.storage.topic': text('connect-configs'),
  'config.storage.replication.factor': replicationFactor(),
  'offset.storage.topic': text('connect-offsets'),
  'offset.storage.partitions': brokerCount(25),
  'offset.storage.replication.factor': replicationFactor(),
  'status.storage.topic': text('connect-status'),
  'status.storage.partitions': brokerCount(5),
  'status.storage.replication.factor': replicationFactor(),
  'internal.topics.automatic.creation.enable': booleanSetting().default(true),
  'storage.topics.skip.validation': booleanSetting().default(false),

  'key.converter': text('org.apache.kafka.connect.json.JsonConverter'),
  'value.converter': text('org.apache.kafka.connect.json.JsonConverter'),
  'header.converter': text('org.apache.kafka.connect.storage.SimpleHeaderConverter'),
  'task.shutdown.graceful.timeout.ms': milliseconds(5_000),
  'offset.flush.interval.ms': milliseconds(60_000),
  'offset.flush.timeout.ms': milliseconds(5_000),
  'topic.creation.enable': booleanSetting().default(true),
  'topic.tracking.enable': booleanSetting().default(true),
  'topic.tracking.allow.reset': booleanSetting().default(true),
  'connector.client.config.override.policy': text('All').refine(
    (name) => parseOverridePolicy(name, []) !== undefined,
    'expected All, None, Principal or Allowlist',
  ),
  'connector.client.config.override.allowlist': listSetting().default([]),
  'plugin.path': listSetting().default([]),
  'plugin.discovery': enumSetting(DISCOVERY_MODES).default('hybrid_warn'),
  // Not in Kafka Connect: the JVMs of Java plugins.
  'java.home': text(''),
  'java.host.directory': text(''),
  'java.host.heap.max': z
    .string()
    .overwrite(trimAsJava)
    .regex(/^[1-9]\d*[kKmMgG]?$/, 'expected a size as -Xmx takes it, such as 512m or 2g')
    .default('1g'),
  'java.host.options': text(''),
  'java.host.idle.ms': milliseconds(60_000, 2 ** 31 - 1),
  // Not in Kafka Connect: allowed connector classes, and the files and hosts that connectors may use.
  'connector.classes.allowed': listSetting().optional(),
  'connector.classes.denied': listSetting().default([]),
  'connector.paths.allowed': listSetting()
    .refine((paths) => paths.every((path) => isAbsolute(path)), 'expected absolute paths')
    .optional(),
  'connector.urls.allowed': listSetting().optional(),
  'connector.urls.denied': listSetting().optional(),
  'connector.listeners.allowed': listSetting().optional(),
  // Not in Kafka Connect: topics and groups of other programs, such as a registry.
  'connector.topics.denied': listSetting().default([
    'connect-configs',
    'connect-offsets',
    'connect-status',
    '_schemas',
    '_dek_registry_keys',
  ]),
  'connector.groups.denied': listSetting().default(['connect-cluster', 'schema-registry']),
  'records.masked.tags': listSetting().default(['PII', 'PRIVATE', 'SENSITIVE']),
  'worker.config.reload.ms': milliseconds(0),
  // Not in Kafka Connect: limits of the processes that run plugin code and tasks.
  'worker.plugin.timeout.ms': integerSetting({ min: 250, max: 3_600_000 }).default(90_000),
  'worker.plugin.load.timeout.ms': integerSetting({ min: 250, max: 3_600_000 }).default(30_000),
  'worker.plugin.memory.mb': integerSetting({ min: 64, max: 1_048_576 }).default(256),
  'worker.threads': integerSetting({ min: 1, max: 256 }).optional(),
  'worker.thread.memory.mb': integerSetting({ min: 32, max: 1_048_576 }).default(512),
  'worker.thread.blocked.max.ms': integerSetting({ min: 250, max: 3_600_000 }).default(10_000),
  'worker.task.start.timeout.ms': integerSetting({ min: 1_000, max: 86_400_000 }).optional(),
  'worker.task.log.lines.per.second': integerSetting({ min: 1, max: 1_000_000 }).default(100),
  'worker.task.log.bytes.per.second': integerSetting({ min: 1_024, max: 1_073_741_824 }).default(65_536),

  'http.body.bytes.max': integerSetting({ min: 1_024 }).default(4 * 1_048_576),
  ...httpLimitShape,
  listeners: listSetting().default(['http://127.0.0.1:8083']),
  'rest.advertised.host.name': z.string().overwrite(trimAsJava).optional(),
  'rest.advertised.port': integerSetting({ min: 1, max: 65_535 }).optional(),
  'rest.advertised.listener': enumSetting(['http', 'https']).optional(),
  'access.control.allow.origin': text(''),
  'access.control.allow.methods': text(''),
  'admin.listeners': listSetting().optional(),
  'response.http.headers.config': text(''),
  'authentication.realm': text('KafkaConnect'),
  ...accessControlShape,
  ...auditLogShape,
  ...consoleShape,
  'weir.config.masking': enumSetting(['readonly', 'always']).default('readonly'),
  // Rejected rather than ignored, because a user may rely on the extension, for example for authentication.
  'rest.extension.classes': text('').refine(
    (classes) => classes === '',
    'REST extensions are Java classes, which Weir does not run; for authentication set authentication.method=BASIC',
  ),
})

/** The settings of the processes in which plugin code runs, which are needed before placeholders can be resolved. */
export type PluginSettings = z.infer<typeof pluginSettings>
export const pluginSettings = shape.pick({
  'plugin.path': true,
  'plugin.discovery': true,
  'java.home': true,
  'java.host.directory': true,
  'java.host.heap.max': true,
  'java.host.options': true,
  'java.host.idle.ms': true,
  'worker.plugin.timeout.ms': true,
  'worker.plugin.load.timeout.ms': true,
  'worker.plugin.memory.mb': true,
  'worker.thread.blocked.max.ms': true,
  'worker.task.log.lines.per.second': true,
  'worker.task.log.bytes.per.second': true,
})

/** Prefixes of keys that other modules read. */
const PASS_THROUGH = [
  'key.converter.',
  'value.converter.',
  'header.converter.',
  'config.storage.',
  'offset.storage.',
  'status.storage.',
  'producer.',
  'consumer.',
  'admin.',
  'config.providers',
  'listeners.https.',
  'ssl.',
  'sasl.',
  'security.',
  'client.',
  'metrics.',
  'metric.reporters',
  'metadata.',
  'retry.backoff.',
  'reconnect.backoff.',
  'socket.connection.setup.',
  'connections.max.idle.ms',
  'default.api.timeout.ms',
  'request.timeout.ms',
  'send.buffer.bytes',
  'receive.buffer.bytes',
  'internal.',
]

/** Settings of Kafka Connect and its images that have no effect in Weir, and the reason. */
const WITHOUT_EFFECT = {
  'worker.unsync.backoff.ms': 'a worker that lags behind the config topic stays in its group',
  'log4j.*': 'logs are JSON on standard error; PUT /admin/loggers/NAME sets their level',
  'cub.*': 'the worker waits for Kafka by itself',
}

export type WorkerSettings = {
  readonly values: z.infer<typeof shape>
  /** Keys with a prefix of `PASS_THROUGH`, and unknown keys. */
  readonly rest: Readonly<Record<string, string>>
  /** Messages for the log. */
  readonly warnings: readonly string[]
  /** Values of secret keys, and values of placeholders. */
  readonly secrets: readonly string[]
  /** Keys of those placeholders. For the environment: variables with the worker's own credentials. */
  readonly ownVariables?: readonly string[]
}

export const workerSettingsSpec: SettingsSpec<typeof shape> = {
  program: 'the connector worker',
  shape,
  aliases: {},
  passThrough: PASS_THROUGH,
  withoutEffect: WITHOUT_EFFECT,
}

/** Throws a `UserError` that names every invalid value and its source. */
export function workerSettings(written: readonly Setting[]): WorkerSettings {
  const settings = readSettings(workerSettingsSpec, written)
  const { values } = settings
  const contradiction = accessControlSettingsError(values)
  if (contradiction !== undefined) throw new UserError('invalid_settings', contradiction)
  const problems = clientProblems(settings.rest)
  if (problems.length > 0) throw new UserError('invalid_settings', problems.map(({ message }) => message).join('\n'))
  const unsigned = unsignedRequests(values)
  return unsigned === undefined ? settings : { ...settings, warnings: [...settings.warnings, unsigned] }
}

/** Whether unsigned requests of other workers are rejected, whatever the group protocol is. */
export function mustRefuseUnsigned(values: WorkerSettings['values']): boolean {
  return requiresAuthentication(values) && values['inter.worker.requests.unsigned'] === 'refuse'
}

/**
 * Returns a warning when clients without credentials can send the requests of workers although authentication is required.
 * Throws a `UserError` unless the configuration allows it explicitly.
 */
function unsignedRequests(values: WorkerSettings['values']): string | undefined {
  if (!requiresAuthentication(values) || values['connect.protocol'] !== 'compatible') return undefined
  const gap = `connect.protocol=compatible does not sign requests between workers, so anyone can send them although authentication.method=${values['authentication.method'].join(',')}`
  if (values['inter.worker.requests.unsigned'] === 'allow') return gap
  throw new UserError(
    'invalid_settings',
    `${gap}: set connect.protocol=sessioned on every worker, or inter.worker.requests.unsigned=allow if the network lets only workers reach each other`,
  )
}

/**
 * Settings from environment variables, as in the container images of Kafka Connect: `CONNECT_` and the key in upper case.
 * Variables that Kubernetes sets for a Service named `connect` have the same prefix and are ignored.
 */
export function workerEnvironmentSettings(
  environment: Readonly<Record<string, string | undefined>>,
): readonly Setting[] {
  return settingsFromEnvironment('CONNECT', environment).filter(
    ({ key, value }) => !/^(?:service\.|port\.\d|port$)/.test(key) && !value.startsWith('tcp://'),
  )
}
