import { expect, it } from 'vitest'
import { defineSource, z } from '../../../src/sdk/index.ts'
import { newTopic, parseTopicCreationRules } from '../../../src/worker/configuration/topic-creation-rules.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker } from '../../support/topic.ts'

const CONFIG = {
  'topic.creation.default.partitions': '3',
  'topic.creation.default.replication.factor': '-1',
  'topic.creation.groups': 'compacted, wide',
  'topic.creation.compacted.include': '(?i)state-.*, exact',
  'topic.creation.compacted.exclude': 'state-not',
  'topic.creation.compacted.cleanup.policy': 'compact',
  'topic.creation.wide.include': '.*-not',
  'topic.creation.wide.partitions': '9',
  'topic.creation.wide.replication.factor': '2',
}

it.each([
  ['State-a', { partitions: 3, configs: { 'cleanup.policy': 'compact' } }],
  ['exact', { partitions: 3, configs: { 'cleanup.policy': 'compact' } }],
  ['exactly', { partitions: 3 }],
  ['state-not', { partitions: 9, replicationFactor: 2, replicationSetting: 'topic.creation.wide.replication.factor' }],
])('creates %s by the first group that includes it', (name, made) => {
  expect(newTopic(name, parseTopicCreationRules(CONFIG))).toEqual({ name, ...made })
})

it('uses the defaults of the brokers without topic.creation settings', () => {
  expect(newTopic('t', parseTopicCreationRules({ topic: 't' }))).toEqual({ name: 't' })
})

it.each([
  [true, 3],
  [false, 1],
])('applies to the topics of a source only if topic.creation.enable is set: %s', async (createTopics, partitions) => {
  const log = await openTestBroker('offsets')
  const source = defineSource({
    class: 'Own',
    version: '1',
    summary: 'Own.',
    config: z.object({}),
    async *poll() {
      yield [{ topic: 'made', value: 'v', sourcePartition: {}, sourceOffset: {} }]
    },
  })
  startTask(log, source, CONFIG, { worker: { ...TASK_DEFAULTS, createTopics } })
  await expect.poll(async () => (await log.topics.describe('made'))?.partitions.length).toBe(partitions)
})
