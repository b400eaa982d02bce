import { defineSink, defineSource, type RawConfig, STRING, z } from '../../../src/sdk/index.ts'
import type { TopicAccessPolicy } from '../../../src/worker/topic-access/topic-access-policy.ts'

// What connectors do with topics and groups, and what is expected of each. `topic-table.test.ts` tests it and writes the page.

export const STORED = 'stored before'
const SENT = 'sent by the connector'

export const POLICY: TopicAccessPolicy = {
  ownTopics: ['configs', 'worker-offsets', 'statuses', '_schemas', '_dek_registry_keys', '__consumer_offsets'],
  ownGroups: ['workers', 'schema-registry', 'weir-dlq-*', 'weir-replayed-*'],
  workerOffsetsTopic: 'worker-offsets',
  offsetsTopics: ['own-offsets', 'other-offsets'],
  takenGroups: ['connect-other'],
  rules: {
    granted: [
      { kind: 'topics', patterns: ['both', 'harmless'], operations: ['read', 'write'] },
      { kind: 'topics', patterns: ['rates'], operations: ['read'] },
      { kind: 'topics', patterns: ['inbox'], operations: ['write'] },
      { kind: 'groups', patterns: ['granted-*'], operations: ['read'] },
    ],
  },
}

/** `rejected`: by validation; `failed`: the task fails; `skipped`: the task runs without it. */
export type Answer = 'allowed' | 'rejected' | 'failed' | 'skipped'

type Column = { readonly title: string; readonly connector: 'free' | 'granted'; readonly topic: string }

export const TOPICS: readonly Column[] = [
  { title: 'any topic, without an entry', connector: 'free', topic: 'orders' },
  { title: 'granted `read`, `write`', connector: 'granted', topic: 'both' },
  { title: 'granted `read`', connector: 'granted', topic: 'rates' },
  { title: 'granted `write`', connector: 'granted', topic: 'inbox' },
  { title: 'not granted', connector: 'granted', topic: 'orders' },
  { title: 'configurations', connector: 'free', topic: 'configs' },
  { title: "worker's offsets", connector: 'free', topic: 'worker-offsets' },
  { title: 'statuses', connector: 'free', topic: 'statuses' },
  { title: 'schemas', connector: 'free', topic: '_schemas' },
  { title: 'keys', connector: 'free', topic: '_dek_registry_keys' },
  { title: 'of Kafka', connector: 'free', topic: '__consumer_offsets' },
  { title: "another connector's offsets", connector: 'free', topic: 'other-offsets' },
  { title: 'own offsets', connector: 'free', topic: 'own-offsets' },
]

const READABLE = ['any topic, without an entry', 'granted `read`, `write`', 'granted `read`']
const WRITABLE = ['any topic, without an entry', 'granted `read`, `write`', 'granted `write`']
const FOR_OFFSETS = [...WRITABLE, "worker's offsets", "another connector's offsets", 'own offsets']

export const sender = defineSource({
  class: 'Sender',
  version: '1.0.0',
  summary: 'Sends a record.',
  config: z.object({ to: z.string() }),
  async *poll({ config: { to }, signal }) {
    yield [{ topic: to, value: SENT, valueSchema: STRING, sourcePartition: { a: 1 }, sourceOffset: { b: 1 } }]
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  },
})

export const failing = defineSource({
  class: 'Failing',
  version: '1.0.0',
  summary: 'Rejects a record.',
  config: z.object({}),
  async *poll({ reject, signal }) {
    reject(
      { topic: 'harmless', value: SENT, valueSchema: STRING, sourcePartition: {}, sourceOffset: {} },
      new Error('not this one'),
    )
    yield []
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  },
})

export const listener = defineSource({
  class: 'Listener',
  version: '1.0.0',
  summary: 'Reads a topic.',
  config: z.object({ from: z.string() }),
  async *poll({ config: { from }, openTopic, signal }) {
    const reader = await openTopic({ topic: from, offset: 0, bootstrapServers: undefined })
    while (!signal.aborted) {
      const read = await reader.poll(20)
      yield read.map(() => ({
        topic: 'harmless',
        value: SENT,
        valueSchema: STRING,
        sourcePartition: {},
        sourceOffset: {},
      }))
    }
  },
})

export function recordingSink(read: string[]) {
  return defineSink({
    class: 'Recorder',
    version: '1.0.0',
    summary: 'Records the topics of records, and reports each record.',
    config: z.object({ reports: z.string().default('') }),
    start: async ({ config: { reports }, report, reject }) => ({
      put: async (records) => {
        for (const record of records) {
          read.push(record.topic)
          if (reports !== '') await report({ name: reports, partitions: 1, replicationFactor: 1 }, [REPORT])
          else await reject(record, new Error('not this one')).catch(() => undefined)
        }
      },
    }),
  })
}
const REPORT = { key: null, value: Buffer.from(SENT), headers: [] }

type Activity = {
  readonly does: string
  readonly allowed: readonly string[]
  /** The answer to what is not allowed. */
  readonly otherwise: Answer
  readonly plugin: 'sender' | 'failing' | 'listener' | 'sink' | 'datagen'
  readonly config: (topic: string) => RawConfig
  /** Whether it reads; default: it writes. */
  readonly reads?: boolean
  readonly isExactlyOnce?: boolean
}

const DEAD = (topic: string): RawConfig => ({
  'errors.tolerance': 'all',
  'errors.deadletterqueue.topic.name': topic,
  'errors.deadletterqueue.topic.replication.factor': '1',
})
const ROUTE = (topic: string): RawConfig => ({
  transforms: 'route',
  'transforms.route.type': 'RegexRouter',
  'transforms.route.regex': '.*',
  'transforms.route.replacement': topic,
})
export const OWN_OFFSETS = { 'offsets.storage.topic': 'own-offsets' }

export const ACTIVITIES: readonly Activity[] = [
  {
    does: 'a source whose configuration names the topic',
    allowed: WRITABLE,
    otherwise: 'rejected',
    plugin: 'datagen',
    config: (topic) => ({ 'connector.class': 'Datagen', 'kafka.topic': topic, quickstart: 'users', iterations: '1' }),
  },
  {
    does: 'a source whose code names the topic',
    allowed: WRITABLE,
    otherwise: 'failed',
    plugin: 'sender',
    config: (topic) => ({ to: topic }),
  },
  {
    does: 'a transformation that changes the topic',
    allowed: WRITABLE,
    otherwise: 'failed',
    plugin: 'sender',
    config: (topic) => ({ to: 'harmless', ...ROUTE(topic) }),
  },
  {
    does: 'the same with `errors.tolerance=all`',
    allowed: WRITABLE,
    otherwise: 'failed',
    plugin: 'sender',
    config: (topic) => ({ to: 'harmless', 'errors.tolerance': 'all', ...ROUTE(topic) }),
  },
  {
    does: 'a source with `topic.creation.*`',
    allowed: WRITABLE,
    otherwise: 'failed',
    plugin: 'sender',
    config: (topic) => ({
      to: topic,
      'topic.creation.default.partitions': '1',
      'topic.creation.default.replication.factor': '1',
    }),
  },
  {
    does: 'a source in a transaction (exactly once)',
    allowed: WRITABLE,
    otherwise: 'failed',
    plugin: 'sender',
    config: (topic) => ({ to: topic }),
    isExactlyOnce: true,
  },
  {
    does: 'the dead-letter queue of a source',
    allowed: WRITABLE,
    otherwise: 'rejected',
    plugin: 'failing',
    config: DEAD,
  },
  {
    does: 'the dead-letter queue of a sink',
    allowed: WRITABLE,
    otherwise: 'rejected',
    plugin: 'sink',
    config: (topic) => ({ topics: 'harmless', ...DEAD(topic) }),
  },
  {
    does: 'a sink that reports about its records',
    allowed: WRITABLE,
    otherwise: 'failed',
    plugin: 'sink',
    config: (topic) => ({ topics: 'harmless', reports: topic }),
  },
  {
    does: '`offsets.storage.topic`: the worker writes the offsets of the source',
    allowed: FOR_OFFSETS,
    otherwise: 'rejected',
    plugin: 'sender',
    config: (topic) => ({ to: 'harmless', 'offsets.storage.topic': topic }),
    isExactlyOnce: true,
  },
  {
    does: 'a sink with `topics`',
    allowed: READABLE,
    otherwise: 'rejected',
    plugin: 'sink',
    config: (topic) => ({ topics: `${topic},harmless` }),
    reads: true,
  },
  {
    does: 'a sink with `topics.regex`',
    allowed: READABLE,
    otherwise: 'skipped',
    plugin: 'sink',
    config: (topic) => ({ 'topics.regex': `${topic}|harmless` }),
    reads: true,
  },
  {
    does: 'a source that reads a topic',
    allowed: READABLE,
    otherwise: 'failed',
    plugin: 'listener',
    config: (topic) => ({ from: topic }),
    reads: true,
  },
]

type Group = { readonly title: string; readonly connector: 'free' | 'granted'; readonly group: string }

export const GROUPS: readonly (Group & { readonly isAllowed: boolean })[] = [
  { title: 'own, `connect-NAME`', connector: 'free', group: 'connect-free', isAllowed: true },
  { title: 'own, with an entry', connector: 'granted', group: 'connect-granted', isAllowed: true },
  { title: 'any group, without an entry', connector: 'free', group: 'application', isAllowed: true },
  { title: 'granted', connector: 'granted', group: 'granted-1', isAllowed: true },
  { title: 'not granted', connector: 'granted', group: 'application', isAllowed: false },
  { title: 'of another connector', connector: 'free', group: 'connect-other', isAllowed: false },
  { title: 'of the workers', connector: 'free', group: 'workers', isAllowed: false },
  { title: 'of a registry', connector: 'free', group: 'schema-registry', isAllowed: false },
  { title: 'of replays', connector: 'free', group: 'weir-replayed-orders', isAllowed: false },
]
export const inGroup = (group: string) => ({ topics: 'harmless', 'consumer.override.group.id': group })
