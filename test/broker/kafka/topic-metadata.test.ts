import { expect, it } from 'vitest'
import type { ClusterMetadata } from '../../../src/broker/kafka/produce-fetch-apis.ts'
import { ResponseErrors } from '../../../src/broker/kafka/response-errors.ts'
import { topicMetadata } from '../../../src/broker/kafka/topic-metadata.ts'

const errors = new ResponseErrors({ topic: 'DESCRIBE' })
const topic = (name: string, errorNumber: number): ClusterMetadata['topics'][number] => {
  const error = errors.find(errorNumber, `metadata of topic '${name}'`, { topic: name })
  return { topic: name, internal: false, partitions: [], errorNumber, ...(error && { error }) }
}
const clusterOf = (...topics: ClusterMetadata['topics']) => ({
  metadata: async () => ({ clusterId: 'c', controller: 0, nodes: [], topics }),
})

it('omits topics that do not exist', async () => {
  const cluster = clusterOf(topic('known', 0), topic('missing', 3))
  expect(await topicMetadata(cluster, {})).toEqual([{ topic: 'known', internal: false, partitions: [] }])
})

it('names a topic that this client may not describe, and the right that it needs, instead of taking it for a missing one', async () => {
  const cluster = clusterOf(topic('known', 0), topic('hidden', 29))
  await expect(topicMetadata(cluster, { topics: ['known', 'hidden'] })).rejects.toMatchObject({
    code: 'not_authorized',
    message: "metadata of topic 'hidden': TOPIC_AUTHORIZATION_FAILED: the client needs DESCRIBE on topic hidden",
    right: { operation: 'DESCRIBE', resourceType: 'topic', resourceName: 'hidden' },
  })
})
