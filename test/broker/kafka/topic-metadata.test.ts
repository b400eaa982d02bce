import { expect, it } from 'vitest'
import type { ClusterMetadata } from '../../../src/broker/kafka/produce-fetch-apis.ts'
import { topicMetadata } from '../../../src/broker/kafka/topic-metadata.ts'

const topic = (name: string, errorNumber: number): ClusterMetadata['topics'][number] => ({
  ...{ topic: name, internal: false, partitions: [], errorNumber },
})
const topics = [topic('known', 0), topic('missing', 3), topic('hidden', 29)]
const cluster = { metadata: async () => ({ clusterId: 'c', controller: 0, nodes: [], topics }) }

it('omits topics that do not exist or that this client may not describe', async () => {
  expect(await topicMetadata(cluster, {})).toEqual([{ topic: 'known', internal: false, partitions: [] }])
})

it('names a topic that this client may not describe, instead of taking it for a missing one', async () => {
  await expect(topicMetadata(cluster, { requiresAccess: true })).rejects.toMatchObject({
    code: 'not_authorized',
    message: "metadata of topic 'hidden': TOPIC_AUTHORIZATION_FAILED",
  })
})
