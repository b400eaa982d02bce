import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { ConfigInfos } from '../../../src/clients/worker-client.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'

/** A configuration for each rule of a class of Kafka Connect, and for what is just permitted by it. */
type Rules = Readonly<Record<string, readonly RawConfig[]>>

const SOURCE = { name: 'c', 'connector.class': 'FileStreamSource', file: '/tmp/in', topic: 't' }
const SINK = { name: 'c', 'connector.class': 'FileStreamSink', file: '/tmp/out', topics: 't' }

const changed = (base: RawConfig, ...changes: readonly RawConfig[]) => changes.map((change) => ({ ...base, ...change }))
const values = (base: RawConfig, key: string, ...texts: readonly string[]) =>
  texts.map((text) => ({ ...base, [key]: text }))
const without = (base: RawConfig, key: string) => [Object.fromEntries(Object.entries(base).filter(([k]) => k !== key))]

/** Kafka Connect needs them as soon as there is any key of topic creation. */
const DEFAULT_GROUP = { 'topic.creation.default.partitions': '1', 'topic.creation.default.replication.factor': '1' }

const MASK_FIELD = {
  'transforms.a.type': 'org.apache.kafka.connect.transforms.MaskField$Value',
  'transforms.a.fields': 'f',
}
const TOMBSTONE = { 'predicates.p.type': 'org.apache.kafka.connect.transforms.predicates.RecordIsTombstone' }

const CONNECTOR: Rules = {
  name: [...without(SOURCE, 'name'), ...values(SOURCE, 'name', '', ' ', 'a\u0007b\u0085', ' c ')],
  'connector.plugin.version': values(SOURCE, 'connector.plugin.version', '0.0.1', '[1.0'),
  'tasks.max': values(
    SOURCE,
    'tasks.max',
    '1',
    ' 2 ',
    '+3',
    '0',
    '-1',
    '',
    'x',
    '1.0',
    '1e3',
    '2147483648',
    '0x10',
    '٣',
    '00',
  ),
  'tasks.max.enforce': values(SOURCE, 'tasks.max.enforce', 'TRUE', ' false ', '', 'yes', '1'),
  'key.converter': values(
    SOURCE,
    'key.converter',
    'org.apache.kafka.connect.storage.StringConverter',
    ' org.apache.kafka.connect.storage.StringConverter ',
    '',
    'no.such.Converter',
    'java.lang.String',
    'org.apache.kafka.connect.storage.Converter',
    'org.apache.kafka.connect.file.FileStreamSinkConnector',
  ),
  'value.converter': values(
    SOURCE,
    'value.converter',
    'org.apache.kafka.connect.json.JsonConverter',
    '',
    'no.such.Converter',
  ),
  'header.converter': values(
    SOURCE,
    'header.converter',
    'org.apache.kafka.connect.storage.SimpleHeaderConverter',
    '',
    'no.such.Converter',
    'org.apache.kafka.connect.transforms.predicates.RecordIsTombstone',
  ),
  'key.converter.plugin.version': changed(
    SOURCE,
    { 'key.converter': 'org.apache.kafka.connect.storage.StringConverter', 'key.converter.plugin.version': '1.0' },
    { 'key.converter': 'org.apache.kafka.connect.storage.StringConverter', 'key.converter.plugin.version': '[1' },
    { 'key.converter': 'org.apache.kafka.connect.json.JsonConverter', 'key.converter.schemas.cache.size': 'x' },
    { 'key.converter': 'org.apache.kafka.connect.json.JsonConverter', 'key.converter.schemas.enable': 'perhaps' },
  ),
  transforms: [
    ...values(SOURCE, 'transforms', '', ' ', ',', 'a,,a', 'a,', 'a'),
    ...values({ ...SOURCE, ...MASK_FIELD }, 'transforms', 'a', ' a ', 'a,a', 'a,', ',a', 'a, ,b', 'a , a', 'a,b'),
    ...changed(
      { ...SOURCE, ...MASK_FIELD, transforms: 'a' },
      { 'transforms.a.type': '' },
      { 'transforms.a.type': 'no.such.Transform' },
      { 'transforms.a.type': 'java.lang.String' },
      { 'transforms.a.type': 'org.apache.kafka.connect.transforms.MaskField' },
      { 'transforms.a.type': 'org.apache.kafka.connect.transforms.predicates.RecordIsTombstone' },
      { 'transforms.a.fields': '' },
      { 'transforms.a.negate': 'true' },
      { 'transforms.a.negate': 'false' },
      { 'transforms.a.negate': 'perhaps', 'transforms.a.predicate': 'p' },
      { 'transforms.a.predicate': '' },
      { 'transforms.a.predicate': 'missing' },
      { 'transforms.a.plugin.version': '1.0' },
      { 'transforms.a.plugin.version': '[1.0' },
      { 'transforms.a.unknown': 'x' },
      { 'transforms.b.type': 'unused' },
    ),
  ],
  predicates: [
    ...values(SOURCE, 'predicates', '', ' ', ',', 'p,p', 'p', 'p,'),
    ...values({ ...SOURCE, ...TOMBSTONE }, 'predicates', 'p', 'p,p', 'p,', 'p,q'),
    ...changed(
      { ...SOURCE, ...MASK_FIELD, ...TOMBSTONE, transforms: 'a', predicates: 'p' },
      { 'transforms.a.predicate': 'p' },
      { 'transforms.a.predicate': 'p', 'transforms.a.negate': 'true' },
      { 'transforms.a.predicate': 'q' },
      { 'predicates.p.type': '' },
      { 'predicates.p.type': 'org.apache.kafka.connect.transforms.MaskField$Value' },
      { 'predicates.p.plugin.version': '0.0.1' },
      { 'predicates.p.type': 'org.apache.kafka.connect.transforms.predicates.TopicNameMatches' },
      {
        'predicates.p.type': 'org.apache.kafka.connect.transforms.predicates.TopicNameMatches',
        'predicates.p.pattern': '(',
      },
    ),
  ],
  'config.action.reload': values(SOURCE, 'config.action.reload', 'none', 'RESTART', ' none ', '', 'reload'),
  'errors.retry.timeout': values(
    SOURCE,
    'errors.retry.timeout',
    '-1',
    '-2',
    '',
    'x',
    '9223372036854775807',
    '9223372036854775808',
  ),
  'errors.retry.delay.max.ms': values(SOURCE, 'errors.retry.delay.max.ms', '0', '-1', '', '1s'),
  'errors.tolerance': values(SOURCE, 'errors.tolerance', 'ALL', 'none', ' all ', '', 'some'),
  'errors.log.enable': values(SOURCE, 'errors.log.enable', 'True', '', 'on'),
  'errors.log.include.messages': values(SOURCE, 'errors.log.include.messages', 'FALSE', '', 'off'),
  overrides: changed(
    SOURCE,
    { 'producer.override.acks': '7' },
    { 'producer.override.batch.size': 'x' },
    { 'producer.override.compression.type': 'zip' },
    { 'consumer.override.max.poll.records': '0' },
    { 'producer.override.unknown': 'x' },
  ),
}

const SINK_CONNECTOR: Rules = {
  topics: [
    ...without(SINK, 'topics'),
    ...values(
      SINK,
      'topics',
      '',
      ' ',
      ',',
      't1,t1',
      't1,,t2',
      't1,',
      ',t1',
      't1 , t2',
      't1, t1',
      'a b',
      'a/b',
      '.',
      'é',
      ',,',
    ),
  ],
  'topics.regex': [
    ...values(SINK, 'topics.regex', '', ' ', 't.*'),
    ...without(SINK, 'topics').flatMap((base) =>
      values(base, 'topics.regex', 't.*', ' t ', '(', '', ' ', '[a', 'a{2,1}'),
    ),
  ],
  'errors.deadletterqueue.topic.name': [
    ...values(SINK, 'errors.deadletterqueue.topic.name', '', ' ', 't', ' t ', 'u', 'a/b'),
    ...changed(
      SINK,
      { topics: 't,u', 'errors.deadletterqueue.topic.name': 'u' },
      { topics: ' u , t,', 'errors.deadletterqueue.topic.name': 'u' },
      { topics: '', 'topics.regex': '[tu]', 'errors.deadletterqueue.topic.name': 'u' },
      { topics: '', 'topics.regex': '[tu]', 'errors.deadletterqueue.topic.name': 'v' },
    ),
  ],
  'errors.deadletterqueue.topic.replication.factor': values(
    SINK,
    'errors.deadletterqueue.topic.replication.factor',
    '-1',
    '0',
    '',
    '32768',
    'x',
  ),
  'errors.deadletterqueue.context.headers.enable': values(
    SINK,
    'errors.deadletterqueue.context.headers.enable',
    'TRUE',
    '',
    'x',
  ),
  overrides: changed(
    SINK,
    { 'consumer.override.max.poll.records': '0' },
    { 'consumer.override.auto.offset.reset': 'by_duration:PT1H' },
    { 'consumer.override.auto.offset.reset': 'by_duration:PT-1H' },
    { 'consumer.override.auto.offset.reset': 'by_duration:1h' },
    { 'consumer.override.auto.offset.reset': 'by_duration:' },
    { 'consumer.override.auto.offset.reset': 'EARLIEST' },
    { 'consumer.override.auto.offset.reset': 'first' },
    { 'consumer.override.isolation.level': 'read' },
    { 'producer.override.acks': '7' },
    { 'producer.override.acks': '7', 'errors.deadletterqueue.topic.name': 'd' },
  ),
}

const SOURCE_CONNECTOR: Rules = {
  'topic.creation.groups': values(
    { ...SOURCE, ...DEFAULT_GROUP },
    'topic.creation.groups',
    '',
    ' ',
    ',',
    'g,g',
    'g',
    'default',
    'default,default',
    'g,,h',
    ',,',
  ),
  'exactly.once.support': values(SOURCE, 'exactly.once.support', 'REQUESTED', ' requested ', 'required', '', 'always'),
  'transaction.boundary': values(
    SOURCE,
    'transaction.boundary',
    'POLL',
    'Interval',
    ' poll ',
    'connector',
    '',
    'batch',
  ),
  'transaction.boundary.interval.ms': values(SOURCE, 'transaction.boundary.interval.ms', '0', '-1', '', 'x', '1'),
  'offsets.storage.topic': values(SOURCE, 'offsets.storage.topic', 'o', '', ' ', 'a/b'),
}

/** Keys of topic creation groups, which Kafka Connect validates only when it starts the tasks. */
export const TOPIC_CREATION: readonly RawConfig[] = [
  ...changed(
    SOURCE,
    { 'topic.creation.default.partitions': '1' },
    { 'topic.creation.default.replication.factor': '1' },
    { 'topic.creation.groups': 'g' },
  ),
  ...changed(
    { ...SOURCE, ...DEFAULT_GROUP },
    {},
    { 'topic.creation.default.partitions': '0' },
    { 'topic.creation.default.partitions': '-1' },
    { 'topic.creation.default.partitions': '-2' },
    { 'topic.creation.default.partitions': 'x' },
    { 'topic.creation.default.partitions': '' },
    { 'topic.creation.default.replication.factor': '0' },
    { 'topic.creation.default.replication.factor': '-2' },
    { 'topic.creation.default.replication.factor': '32768' },
    { 'topic.creation.default.include': '(' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.include': '(' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.exclude': 't,[' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.include': '' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.include': 'a,,b' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.partitions': '0' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.replication.factor': '-3' },
    { 'topic.creation.groups': 'g', 'topic.creation.g.replication.factor': '1.5' },
    { 'topic.creation.groups': 'default,g', 'topic.creation.g.partitions': '2' },
    { 'topic.creation.g.partitions': '0' },
  ),
]

/** Configurations that Kafka Connect validates, by class and key. */
const RULES: Readonly<Record<string, Rules>> = {
  ConnectorConfig: CONNECTOR,
  SinkConnectorConfig: SINK_CONNECTOR,
  SourceConnectorConfig: SOURCE_CONNECTOR,
}

/** What a worker answered: the keys with errors, or the message when it could not validate the configuration. */
export type Validation = {
  readonly config: RawConfig
  readonly errors: Readonly<Record<string, FieldErrors>> | string
}
export type FieldErrors = { readonly value: string | null; readonly errors: readonly string[] }
export type RecordedRules = {
  readonly validations: readonly Validation[]
  /** Why Kafka Connect does not start a source with these keys of topic creation; null if it does. */
  readonly topicCreation: readonly { readonly config: RawConfig; readonly problem: string | null }[]
}

export const RULE_CONFIGS = Object.values(RULES).flatMap((rules) => Object.values(rules).flat())

/** The answers of Kafka Connect. */
export function recordedRules(): RecordedRules {
  return JSON.parse(readFileSync(RECORDED_RULES, 'utf8')) as RecordedRules
}

export const RECORDED_RULES = fileURLToPath(new URL('validation-rules.golden.json', import.meta.url))

export function errorsOf(configs: ConfigInfos['configs']): Readonly<Record<string, FieldErrors>> {
  const wrong = configs.filter(({ value }) => value.errors.length > 0)
  const byName = wrong.toSorted((a, b) => (a.value.name < b.value.name ? -1 : 1))
  return Object.fromEntries(byName.map(({ value: { name, value, errors } }) => [name, { value, errors }]))
}
