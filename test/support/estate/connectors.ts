import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RequestedState } from '../../../src/clients/worker-client.ts'

/** A connector of the estate, in the state in which it was left: also one that fails. */
export type EstateConnector = {
  readonly name: string
  readonly config: Readonly<Record<string, string>>
  readonly state: RequestedState
  readonly fails?: 'connector' | 'task'
}

export type EstateOptions = {
  readonly bootstrap: string
  /** Prefix of all topics. */
  readonly prefix: string
  /** Directory of the files that connectors read and write. */
  readonly files: string
}

const CONNECT = 'org.apache.kafka.connect'
const STRING = `${CONNECT}.storage.StringConverter`
const BYTES = `${CONNECT}.converters.ByteArrayConverter`
const JSON_CONVERTER = `${CONNECT}.json.JsonConverter`
const WITHOUT_SCHEMAS = {
  'key.converter': JSON_CONVERTER,
  'value.converter': JSON_CONVERTER,
  'key.converter.schemas.enable': 'false',
  'value.converter.schemas.enable': 'false',
}
const SECRETS_FILE = 'secrets.properties'

/** Settings of workers that read placeholders of the estate's configurations. */
export const ESTATE_WORKER = {
  'config.providers': 'file',
  'config.providers.file.class': 'org.apache.kafka.common.config.provider.FileConfigProvider',
}

/** Secret values in the configurations below, none of which may be in a generated file. */
export const ESTATE_SECRETS = [
  'tiger-Scott-77',
  'k3Jf8sLq0Zt5Yw2Bv9Nx7Mc4Rd6Hg1PsQe',
  'hunter2-in-url',
  'jaas-Passw0rd',
]

/** Names of the connectors through which records flow during the takeover. */
export const FLOWING = { source: 'files-in-0', sink: 'files-out-0', mirror: 'mirror-0', numbers: 'numbers-0' } as const

/** Sixty connectors of ten kinds. Writes the file to which their placeholders refer. */
export function estateConnectors(options: EstateOptions): readonly EstateConnector[] {
  writeFileSync(join(options.files, SECRETS_FILE), 'password=from-the-file\n')
  return [0, 1, 2, 3, 4, 5].flatMap((at) => KINDS.map((kind) => kind(at, options)))
}

type Kind = (at: number, options: EstateOptions) => EstateConnector

/** The first ones run; the others are paused and stopped in turn. */
function stateOf(at: number, running: number): RequestedState {
  if (at < running) return 'RUNNING'
  return at % 2 === 0 ? 'PAUSED' : 'STOPPED'
}

const fileSource: Kind = (at, { prefix, files }) => ({
  name: `files-in-${at}`,
  state: stateOf(at, 3),
  config: {
    'connector.class': at % 2 === 0 ? 'FileStreamSource' : `${CONNECT}.file.FileStreamSourceConnector`,
    file: join(files, `in-${at}.txt`),
    topic: `${prefix}-lines-${at}`,
    'value.converter': STRING,
    ...(at % 2 === 1 && {
      // Without tasks.max, with transforms, a predicate and producer settings.
      'batch.size': '100',
      transforms: 'wrap,stamp,route',
      'transforms.wrap.type': `${CONNECT}.transforms.HoistField$Value`,
      'transforms.wrap.field': 'line',
      'transforms.stamp.type': `${CONNECT}.transforms.InsertField$Value`,
      'transforms.stamp.static.field': 'origin',
      'transforms.stamp.static.value': 'files',
      'transforms.route.type': `${CONNECT}.transforms.RegexRouter`,
      'transforms.route.regex': '(.*)-lines-(.*)',
      'transforms.route.replacement': '$1-wrapped-$2',
      'transforms.route.predicate': 'isLines',
      predicates: 'isLines',
      'predicates.isLines.type': `${CONNECT}.transforms.predicates.TopicNameMatches`,
      'predicates.isLines.pattern': '.*-lines-.*',
    }),
    ...(at % 2 === 0 && { 'tasks.max': '1' }),
  },
})

const fileSink: Kind = (at, { prefix, files }) => ({
  name: `files-out-${at}`,
  state: stateOf(at, 2),
  config: {
    'connector.class': 'FileStreamSink',
    'tasks.max': '2',
    file: join(files, `out-${at}.txt`),
    topics: `${prefix}-lines-${at}`,
    'value.converter': STRING,
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': `${prefix}-dead-letters`,
    'errors.deadletterqueue.topic.replication.factor': '1',
  },
})

function mirror(name: string, className: string, running: number, more: (prefix: string) => object): Kind {
  return (at, { bootstrap, prefix, files }) => ({
    name: `${name}-${at}`,
    state: at < running ? 'RUNNING' : 'STOPPED',
    config: {
      'connector.class': `${CONNECT}.mirror.${className}`,
      'tasks.max': '1',
      'key.converter': BYTES,
      'value.converter': BYTES,
      'source.cluster.alias': `${prefix}-east`,
      'target.cluster.alias': `${prefix}-west`,
      'source.cluster.bootstrap.servers': bootstrap,
      'target.cluster.bootstrap.servers': bootstrap,
      'replication.factor': '1',
      'offset-syncs.topic.replication.factor': '1',
      'checkpoints.topic.replication.factor': '1',
      'heartbeats.topic.replication.factor': '1',
      'sync.topic.acls.enabled': 'false',
      // Both clusters are one, so a heartbeat topic of another test would be copied again and again, under longer names.
      'heartbeats.replication.enabled': 'false',
      // Stopped ones have logins, with the password in the configuration or in a file of the worker.
      ...(at >= running && {
        'source.cluster.security.protocol': 'SASL_PLAINTEXT',
        'source.cluster.sasl.mechanism': 'PLAIN',
        'source.cluster.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="m" password="${
          at % 2 === 0 ? 'jaas-Passw0rd' : `\${file:${join(files, SECRETS_FILE)}:password}`
        }";`,
      }),
      ...more(prefix),
    },
  })
}

const verifiableSource: Kind = (at, { prefix }) => ({
  name: `numbers-${at}`,
  state: stateOf(at, 1),
  config: {
    ...WITHOUT_SCHEMAS,
    'connector.class': `${CONNECT}.tools.VerifiableSourceConnector`,
    'tasks.max': '1',
    topic: `${prefix}-numbers-${at}`,
    throughput: '200',
    // No definition knows these keys.
    ...(at === 1 && { 'statistics.url': 'https://reporter:hunter2-in-url@stats.example.com/numbers' }),
    ...(at === 2 && { 'statistics.reference': 'k3Jf8sLq0Zt5Yw2Bv9Nx7Mc4Rd6Hg1PsQe' }),
  },
})

const verifiableSink: Kind = (at, { prefix }) => ({
  name: `verifier-${at}`,
  state: stateOf(at, 1),
  config: {
    ...WITHOUT_SCHEMAS,
    'connector.class': `${CONNECT}.tools.VerifiableSinkConnector`,
    'tasks.max': ' 1 ',
    topics: `${prefix}-numbers-${at}`,
    'consumer.override.max.poll.records': '50',
  },
})

/** The first two fail: in their task, and in the connector itself. */
function mock(name: string, className: string, more: (prefix: string) => object): Kind {
  return (at, { prefix }) => ({
    name: `${name}-${at}`,
    state: stateOf(at, 2),
    ...(at === 0 && { fails: 'task' }),
    ...(at === 1 && { fails: 'connector' }),
    config: {
      ...WITHOUT_SCHEMAS,
      'connector.class': `${CONNECT}.tools.${className}`,
      'tasks.max': '1',
      ...(at === 0 && { mock_mode: 'task-failure', delay_ms: '0' }),
      ...(at === 1 && { mock_mode: 'connector-failure', delay_ms: '0' }),
      ...(at === 2 && { 'store.password': 'tiger-Scott-77' }),
      ...more(prefix),
    },
  })
}

const schemaSource: Kind = (at, { prefix }) => ({
  name: `Structs_${at}`,
  state: stateOf(at, 1),
  config: {
    'connector.class': `${CONNECT}.tools.SchemaSourceConnector`,
    'value.converter': JSON_CONVERTER,
    topic: `${prefix}-structs-${at}`,
    'num.messages': '20',
    'multiple.schema': 'true',
    'partition.count': '1',
    throughput: '1000',
  },
})

const KINDS: readonly Kind[] = [
  fileSource,
  fileSink,
  mirror('mirror', 'MirrorSourceConnector', 1, (prefix) => ({
    topics: `${prefix}-lines-0`,
    'refresh.topics.interval.seconds': '1',
    'offset.lag.max': '0',
  })),
  mirror('checkpoints', 'MirrorCheckpointConnector', 0, (prefix) => ({ groups: `${prefix}-.*` })),
  mirror('heartbeats', 'MirrorHeartbeatConnector', 0, () => ({ 'emit.heartbeats.interval.seconds': '1' })),
  verifiableSource,
  verifiableSink,
  mock('mock-in', 'MockSourceConnector', () => ({})),
  mock('mock-out', 'MockSinkConnector', (prefix) => ({ topics: `${prefix}-numbers-0` })),
  schemaSource,
]
