import { join } from 'node:path'

/** What a source of the attacker sends, with the number of the attempt. */
export const MARK = 'sent-by-attempt'

// The plugins and configurations with which a user with rights to one connector attempts to reach other topics and groups. The files
// `lines` and `routed` contain the mark of the attempt; `names` contains the name of an internal topic.

export const PLUGINS = `
import { defineSink, defineSource, defineTransform, STRING, z } from 'weir/sdk'

const hold = (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))

export const sender = defineSource({
  class: 'Sender', version: '1.0.0', summary: 'Sends one record to each topic.',
  config: z.object({ places: z.string(), mark: z.string() }),
  async *poll({ config: { places, mark }, signal }) {
    const position = { sourcePartition: {}, sourceOffset: { at: 1 } }
    yield places.split('|').map((topic) => ({ topic, value: mark, valueSchema: STRING, timestampMs: Date.now(), ...position }))
    await hold(signal)
  },
})

export const listener = defineSource({
  class: 'Listener', version: '1.0.0', summary: 'Copies a topic that it opens.',
  config: z.object({ place: z.string(), mark: z.string() }),
  async *poll({ config: { place, mark }, signal, openTopic }) {
    const reader = await openTopic({ topic: place, offset: 0, bootstrapServers: undefined })
    while (!signal.aborted) {
      const records = await reader.poll(100)
      yield records.map(() => ({ topic: 'copied', value: mark, valueSchema: STRING, sourcePartition: {}, sourceOffset: {} }))
    }
  },
})

export const reporter = defineSink({
  class: 'Reporter', version: '1.0.0', summary: 'Reports each record to a topic.',
  config: z.object({ place: z.string(), mark: z.string() }),
  start: async ({ config: { place, mark }, report }) => ({
    put: async () => report({ name: place, partitions: 1, replicationFactor: 1 }, [{ key: null, value: Buffer.from(mark), headers: [] }]),
  }),
})

export const byContent = defineTransform({
  class: 'ByContent', version: '1.0.0', summary: 'Routes each record by its value.',
  config: z.object({}),
  create: () => (record) => ({ ...record, topic: String(record.value).split(' ')[1] ?? record.topic }),
})
`

export type Config = Readonly<Record<string, string>>

export type Attempt = {
  /** What the connector does. */
  readonly attempt: string
  readonly config: Config
  /** Name of the connector. Default: one without granted topics. */
  readonly name?: string
  /** The topic that it wants to write; default: it wants to read what was planted. */
  readonly target?: string
  /** The topic that its records may reach. */
  readonly harmless?: string
  readonly answer: 'rejected' | 'failed' | 'runs'
}

const regexRouter = (regex: string, replacement: string, alias = 'route'): Config => ({
  [`transforms.${alias}.type`]: 'RegexRouter',
  [`transforms.${alias}.regex`]: regex,
  [`transforms.${alias}.replacement`]: replacement,
})

export function attempts(directory: string): readonly Attempt[] {
  const source = (topic: string, more: Config = {}): Config => ({
    'connector.class': 'FileStreamSource',
    file: join(directory, 'lines'),
    topic,
    ...more,
  })
  const routed = (to: string, more: Config = {}) =>
    source('lines-of-mine', { transforms: 'route', ...regexRouter('.*', to), ...more })
  const sink = (more: Config): Config => ({ 'connector.class': 'FileStreamSink', ...more })
  const named = (target: string): Attempt => ({
    attempt: `a source with \`topic=${target}\``,
    config: source(target),
    target,
    answer: 'rejected',
  })
  return [
    named('estate-configs'),
    named('estate-offsets'),
    named('estate-status'),
    named('connect-configs'),
    named('_schemas'),
    named('estate-schemas'),
    named('_dek_registry_keys'),
    named('__consumer_offsets'),
    named('__transaction_state'),
    named('other-offsets'),
    {
      attempt: 'a source whose topic has white space around the name of the topic of configurations',
      config: source('  estate-configs '),
      target: 'estate-configs',
      answer: 'rejected',
    },
    {
      attempt: 'Datagen with `kafka.topic=estate-configs`',
      config: { 'connector.class': 'Datagen', 'kafka.topic': 'estate-configs' },
      target: 'estate-configs',
      answer: 'rejected',
    },
    {
      attempt: 'HttpSource with `topic=_schemas`',
      config: { 'connector.class': 'HttpSource', url: 'http://127.0.0.1:9/', topic: '_schemas' },
      target: '_schemas',
      answer: 'rejected',
    },
    {
      attempt: 'WebhookSource with `topic=_dek_registry_keys`',
      config: { 'connector.class': 'WebhookSource', listener: 'http://127.0.0.1:0', topic: '_dek_registry_keys' },
      target: '_dek_registry_keys',
      answer: 'rejected',
    },
    {
      attempt: 'RegexRouter with `replacement=estate-configs`',
      config: routed('estate-configs'),
      target: 'estate-configs',
      answer: 'failed',
    },
    {
      attempt: 'RegexRouter that removes the prefix of a mirrored topic, `mirror\\.(.*)` to `$1`',
      config: source('mirror._schemas', { transforms: 'route', ...regexRouter('mirror\\.(.*)', '$1') }),
      target: '_schemas',
      answer: 'failed',
    },
    {
      attempt: 'two RegexRouters of which neither names an internal topic',
      config: source('estate', {
        transforms: 'a,b',
        ...regexRouter('(estate)', '$1-con', 'a'),
        ...regexRouter('(.*)', '$1figs', 'b'),
      }),
      target: 'estate-configs',
      answer: 'failed',
    },
    {
      attempt: 'TimestampRouter with `topic.format=connect-offsets`',
      config: {
        'connector.class': 'Sender',
        places: 'lines-of-mine',
        transforms: 'route',
        'transforms.route.type': 'TimestampRouter',
        'transforms.route.topic.format': 'connect-offsets',
      },
      target: 'connect-offsets',
      answer: 'failed',
    },
    {
      attempt: 'a transformation of an installed module that routes by the content of records',
      config: source('lines-of-mine', {
        file: join(directory, 'routed'),
        transforms: 'route',
        'transforms.route.type': 'ByContent',
      }),
      target: '_schemas',
      harmless: 'lines-of-mine',
      answer: 'failed',
    },
    {
      attempt: 'a router with `errors.tolerance=all`',
      config: routed('_schemas', { 'errors.tolerance': 'all' }),
      target: '_schemas',
      answer: 'failed',
    },
    {
      attempt: 'a router with `errors.tolerance=all` and a dead-letter queue',
      config: routed('estate-status', { 'errors.tolerance': 'all', 'errors.deadletterqueue.topic.name': 'dead' }),
      target: 'estate-status',
      answer: 'failed',
    },
    {
      attempt: 'a source of an installed module that sends to an internal topic',
      config: { 'connector.class': 'Sender', places: 'estate-configs' },
      target: 'estate-configs',
      answer: 'failed',
    },
    {
      attempt: 'a source that hides the record among those of its own topic',
      config: { 'connector.class': 'Sender', places: 'mine|mine|estate-offsets|mine' },
      target: 'estate-offsets',
      answer: 'failed',
    },
    {
      attempt: 'a source that sends to the offsets topic of another connector',
      config: { 'connector.class': 'Sender', places: 'other-offsets' },
      target: 'other-offsets',
      answer: 'failed',
    },
    {
      attempt: 'a source that sends to its own offsets topic',
      config: { 'connector.class': 'Sender', places: 'my-offsets', 'offsets.storage.topic': 'my-offsets' },
      target: 'my-offsets',
      answer: 'failed',
    },
    {
      attempt: 'a source that reads an internal topic with `openTopic`',
      config: { 'connector.class': 'Listener', place: '_schemas' },
      target: 'copied',
      answer: 'failed',
    },
    {
      attempt: 'the dead-letter queue of a source in the topic of configurations',
      config: source('lines-of-mine', {
        'errors.tolerance': 'all',
        'errors.deadletterqueue.topic.name': 'estate-configs',
      }),
      target: 'estate-configs',
      answer: 'rejected',
    },
    {
      attempt: 'the dead-letter queue of a sink in the topic of schemas',
      config: sink({ topics: 'lines', 'errors.tolerance': 'all', 'errors.deadletterqueue.topic.name': '_schemas' }),
      target: '_schemas',
      answer: 'rejected',
    },
    {
      attempt: 'the reports of HttpSink in the topic of configurations',
      config: {
        'connector.class': 'HttpSink',
        'http.api.url': 'http://127.0.0.1:9/',
        topics: 'lines',
        'reporter.result.topic.name': 'estate-configs',
      },
      target: 'estate-configs',
      answer: 'rejected',
    },
    {
      attempt: 'a sink of an installed module that reports to the topic of schemas',
      config: { 'connector.class': 'Reporter', topics: 'lines', place: '_schemas' },
      target: '_schemas',
      answer: 'failed',
    },
    {
      attempt: 'a router and `topic.creation.*`, to create a topic of Kafka with settings of its own',
      config: routed('__share_group_state', {
        'topic.creation.default.partitions': '1',
        'topic.creation.default.replication.factor': '1',
        'topic.creation.default.cleanup.policy': 'delete',
      }),
      target: '__share_group_state',
      answer: 'failed',
    },
    {
      attempt: '`offsets.storage.topic=estate-configs`',
      config: source('lines-of-mine', { 'offsets.storage.topic': 'estate-configs' }),
      target: 'estate-configs',
      answer: 'rejected',
    },
    {
      attempt: '`offsets.storage.topic=_schemas`',
      config: source('lines-of-mine', { 'offsets.storage.topic': '_schemas' }),
      target: '_schemas',
      answer: 'rejected',
    },
    {
      attempt: '`offsets.storage.topic` in a topic with records of another connector, which it would make unusable',
      config: source('lines-of-mine', { 'offsets.storage.topic': 'other-lines' }),
      target: 'other-lines',
      answer: 'rejected',
    },
    { attempt: 'a sink with `topics=estate-configs`', config: sink({ topics: 'estate-configs' }), answer: 'rejected' },
    {
      attempt: 'a sink with an internal topic among others',
      config: sink({ topics: 'lines,connect-offsets' }),
      answer: 'rejected',
    },
    { attempt: 'a sink with `topics=_schemas`', config: sink({ topics: '_schemas' }), answer: 'rejected' },
    {
      attempt: 'a sink with `topics=_dek_registry_keys`',
      config: sink({ topics: '_dek_registry_keys' }),
      answer: 'rejected',
    },
    { attempt: 'a sink with `topics=other-offsets`', config: sink({ topics: 'other-offsets' }), answer: 'rejected' },
    {
      attempt: 'a sink with `topics.regex=.*`: it skips internal topics',
      config: sink({ 'topics.regex': '(?!payments|reference).*' }),
      answer: 'runs',
    },
    {
      attempt: 'a sink with `topics.regex` for internal topics and one of its own',
      config: sink({ 'topics.regex': '(?i)lines|_SCHEMAS|.*-configs|_+.*keys' }),
      answer: 'runs',
    },
    {
      attempt: 'the name in another case, `topic=ESTATE-CONFIGS`: another topic in Kafka',
      config: source('ESTATE-CONFIGS'),
      target: 'estate-configs',
      harmless: 'ESTATE-CONFIGS',
      answer: 'runs',
    },
    {
      attempt: 'the name with other punctuation, `topic=estate.configs`: another topic in Kafka',
      config: source('estate.configs'),
      target: 'estate-configs',
      harmless: 'estate.configs',
      answer: 'runs',
    },
    {
      attempt: '`consumer.override.group.id=connect-payments`, the group of another connector',
      config: sink({ topics: 'lines', 'consumer.override.group.id': 'connect-payments' }),
      answer: 'rejected',
    },
    {
      attempt: '`consumer.override.group.id=estate`, the group of the workers',
      config: sink({ topics: 'lines', 'consumer.override.group.id': 'estate' }),
      answer: 'rejected',
    },
    {
      attempt: '`consumer.override.group.id=estate-registry`, the group that elects the leader of the registry',
      config: sink({ topics: 'lines', 'consumer.override.group.id': 'estate-registry' }),
      answer: 'rejected',
    },
    {
      attempt: '`consumer.override.group.id` of the marks that dead letters were replayed',
      config: sink({ topics: 'lines', 'consumer.override.group.id': 'weir-replayed-payments-dead' }),
      answer: 'rejected',
    },
    {
      attempt: 'a router and `producer.override.transactional.id=estate-other-0` of another task: it may not be set',
      config: routed('estate-configs', { 'producer.override.transactional.id': 'estate-other-0' }),
      target: 'estate-configs',
      answer: 'rejected',
    },
    {
      attempt: 'a router and `producer.override.bootstrap.servers=other:9092`: names count in every cluster',
      config: routed('estate-configs', { 'producer.override.bootstrap.servers': 'other:9092' }),
      target: 'estate-configs',
      answer: 'failed',
    },
    {
      attempt: 'the dead letters of another team, without a grant',
      name: 'team-1',
      config: sink({ topics: 'payments-dead' }),
      answer: 'rejected',
    },
    {
      attempt: 'a source that writes a topic which is granted for reading only',
      name: 'team-2',
      config: source('reference-rates'),
      target: 'reference-rates',
      answer: 'rejected',
    },
    {
      attempt: 'a router to a topic that is not granted',
      name: 'team-3',
      config: source('team-lines', { transforms: 'route', ...regexRouter('team-(.*)', 'payments-dead') }),
      target: 'payments-dead',
      answer: 'failed',
    },
    {
      attempt: 'a dead-letter queue that is not granted',
      name: 'team-4',
      config: sink({ topics: 'team-in', 'errors.deadletterqueue.topic.name': 'payments-dead' }),
      target: 'payments-dead',
      answer: 'rejected',
    },
    {
      attempt: 'a sink with `topics.regex=.*`: it skips what is not granted',
      name: 'team-5',
      config: sink({ 'topics.regex': '(?!reference).*' }),
      answer: 'runs',
    },
    {
      attempt: 'a consumer group that is not granted',
      name: 'team-6',
      config: sink({ topics: 'team-in', 'consumer.override.group.id': 'application' }),
      answer: 'rejected',
    },
    {
      attempt: 'an internal topic that a pattern of the grants includes',
      name: 'team-7',
      config: source('shared', { transforms: 'route', ...regexRouter('.*', 'other-offsets') }),
      target: 'other-offsets',
      answer: 'failed',
    },
    {
      attempt: 'any topic, by a connector whose entry grants nothing',
      name: 'nothing-1',
      config: sink({ topics: 'lines' }),
      answer: 'rejected',
    },
    // The last one, because the value of a placeholder is masked from then on.
    {
      attempt: 'a placeholder instead of the name of the topic',
      config: source(`\${file:${join(directory, 'names')}:topic}`),
      target: 'estate-configs',
      answer: 'rejected',
    },
  ]
}
