import { describe, expect, it } from 'vitest'
import { type AccessRight, BrokerError, type KafkaOperation } from '../../../src/broker/broker-error.ts'
import { checkRights, type RightsCalls } from '../../../src/broker/kafka/check-rights.ts'

/** The bits of operations, by their numbers in Kafka. */
const READ = 1 << 3
const WRITE = 1 << 4
const CREATE = 1 << 5
const DESCRIBE = 1 << 8
const NOT_REPORTED = -(2 ** 31)

const denied = () => Promise.reject(new BrokerError('not_authorized', 'not authorized'))
const callsOf = (calls: Partial<RightsCalls>): RightsCalls => ({
  metadata: async (topics) => ({
    cluster: NOT_REPORTED,
    topics: topics.map((topic) => ({ topic, isHidden: false, operations: NOT_REPORTED })),
  }),
  group: async () => NOT_REPORTED,
  transactionalId: async () => true,
  ...calls,
})
const onTopic = (operation: KafkaOperation): AccessRight => ({ operation, resourceType: 'topic', resourceName: 't' })
const topicOf = (topic: { readonly isHidden?: boolean; readonly operations?: number }, cluster = 0) => ({
  metadata: async () => ({ cluster, topics: [{ topic: 't', isHidden: false, operations: 0, ...topic }] }),
})

describe('what brokers say of the rights of a client', () => {
  it('is read from the permitted operations of a topic', async () => {
    const rights = (['READ', 'WRITE', 'DESCRIBE', 'DESCRIBE_CONFIGS'] as const).map(onTopic)
    const calls = callsOf(topicOf({ operations: READ | DESCRIBE }))
    expect(await checkRights(rights, calls)).toEqual(['granted', 'missing', 'granted', 'missing'])
  })

  it('of a hidden topic is that rights are missing that imply DESCRIBE', async () => {
    const rights = (['READ', 'WRITE', 'DESCRIBE_CONFIGS', 'CREATE'] as const).map(onTopic)
    const calls = callsOf(topicOf({ isHidden: true }))
    expect(await checkRights(rights, calls)).toEqual(['missing', 'missing', 'unknown', 'unknown'])
  })

  it.each([
    ['granted on the topic', CREATE, 0, 'granted'],
    ['granted on the cluster', DESCRIBE, CREATE | DESCRIBE, 'granted'],
    ['on neither', DESCRIBE, DESCRIBE, 'missing'],
    ['on a hidden cluster, perhaps', DESCRIBE, 0, 'unknown'],
  ])('of CREATE is what topic and cluster say: %s', async (_, operations, cluster, state) => {
    expect(await checkRights([onTopic('CREATE')], callsOf(topicOf({ operations }, cluster)))).toEqual([state])
  })

  it('of groups and transactional ids is that hidden ones may not be used', async () => {
    const group = { operation: 'READ', resourceType: 'group', resourceName: 'g' } as const
    const id = { operation: 'WRITE', resourceType: 'transactional id', resourceName: 'i' } as const
    expect(await checkRights([group, id], callsOf({ group: denied, transactionalId: denied }))).toEqual([
      'missing',
      'missing',
    ])
    expect(await checkRights([group, id], callsOf({ group: async () => READ | DESCRIBE }))).toEqual([
      'granted',
      'unknown',
    ])
  })

  it('is nothing where they do not report operations, or lack the calls', async () => {
    const rights = [
      onTopic('READ'),
      { operation: 'READ', resourceType: 'group', resourceName: 'g' },
      { operation: 'DESCRIBE', resourceType: 'cluster' },
    ] as const
    const without = { metadata: async () => undefined, group: async () => undefined }
    for (const calls of [callsOf({}), callsOf(without)])
      expect(await checkRights(rights, calls)).toEqual(['unknown', 'unknown', 'unknown'])
  })

  it('of IDEMPOTENT_WRITE is not that it is missing, because WRITE on any topic is enough', async () => {
    const right = { operation: 'IDEMPOTENT_WRITE', resourceType: 'cluster' } as const
    expect(await checkRights([right], callsOf(topicOf({}, DESCRIBE)))).toEqual(['unknown'])
  })

  it('is asked once for each resource, and an error of the brokers is passed on', async () => {
    let requested: readonly string[] = []
    const metadata: RightsCalls['metadata'] = async (topics) => {
      requested = topics
      return { cluster: 0, topics: [{ topic: 't', isHidden: false, operations: WRITE }] }
    }
    await checkRights([onTopic('READ'), onTopic('WRITE')], callsOf({ metadata }))
    expect(requested).toEqual(['t'])
    const group = () => Promise.reject(new BrokerError('timeout', 'no response'))
    const right = { operation: 'READ', resourceType: 'group', resourceName: 'g' } as const
    await expect(checkRights([right], callsOf({ group }))).rejects.toThrow('no response')
  })
})
