import { expect, it } from 'vitest'
import type { Broker, TopicDescription } from '../../../src/broker/broker.ts'
import { BrokerError } from '../../../src/broker/broker-error.ts'
import { TopicDirectory } from '../../../src/worker/topics/topic-directory.ts'

const SIZES = 'sizes of partitions: CLUSTER_AUTHORIZATION_FAILED: the client needs DESCRIBE on cluster'
const CONFIGS = "configs of topic 't1': TOPIC_AUTHORIZATION_FAILED: the client needs DESCRIBE_CONFIGS on topic t1"
const GROUP = 'GROUP_AUTHORIZATION_FAILED: the client needs DESCRIBE on group g2'

const partition = (number: number) => ({ partition: number, leader: 1, replicas: 3 })
const topic = (name: string): TopicDescription => ({ name, internal: false, partitions: [partition(1), partition(0)] })

/** A broker with many topics, of which the client may not know everything; `asked` are the topics whose configurations it is asked for. */
function restricted(count: number, asked: string[] = []) {
  const denied = (message: string) => Promise.reject(new BrokerError('not_authorized', message))
  const topics: Partial<Broker['topics']> = {
    describeAll: async () => Array.from({ length: count }, (_, at) => topic(`t${at}`)),
    describe: async (name) => (name === 'none' ? undefined : topic(name)),
    sizes: () => denied(SIZES),
    configs: () => denied(CONFIGS),
    ownConfigs: () => denied(CONFIGS),
    offsets: async (name, at) =>
      [0, 1].map((number) => ({ topic: name, partition: number, offset: at === 'latest' ? 9 : 4 })),
    configValues: async (names) => {
      asked.push(...names)
      return names.map((name) =>
        name === 't1'
          ? { topic: name, values: {}, error: { code: 'not_authorized', message: CONFIGS } }
          : { topic: name, values: { 'retention.ms': '1' } },
      )
    },
  }
  const groups: Partial<Broker['groups']> = {
    list: async () =>
      ['g1', 'g2', 'g3'].map((groupId) => ({ groupId, protocolType: groupId === 'g3' ? 'connect' : 'consumer' })),
    offsets: async (groupId) => (groupId === 'g2' ? denied(GROUP) : [{ topic: 't0', partition: 1, offset: 2 }]),
    describe: () => denied(GROUP),
  }
  return new TopicDirectory({
    broker: { topics, groups } as unknown as Broker,
    isProgramTopic: (name) => name === 't2',
    connectors: () => ['mine', 'other', 'hidden'],
    topicsOf: (connector) => (connector === 'other' ? [] : ['t0']),
  })
}

const QUERY = { search: '', withInternal: false, offset: 0, limit: 3 }

it('10,000 topics are listed in pages, and the broker is asked about those of the page only', async () => {
  const asked: string[] = []
  const page = await restricted(10_000, asked).list(QUERY, (name) => name !== 't0')
  expect(page).toEqual({
    total: 9_998,
    sizesProblem: SIZES,
    configsProblem: CONFIGS,
    topics: [
      { name: 't1', isInternal: false, partitions: 2, replicas: 3, bytes: null, configs: null },
      { name: 't10', isInternal: false, partitions: 2, replicas: 3, bytes: null, configs: { 'retention.ms': '1' } },
      { name: 't100', isInternal: false, partitions: 2, replicas: 3, bytes: null, configs: { 'retention.ms': '1' } },
    ],
  })
  expect(asked).toEqual(['t1', 't10', 't100'])
})

it('What the account of the worker may not know of a topic is named, and the rest is shown', async () => {
  expect(await restricted(3).describe('t0', (connector) => connector !== 'hidden')).toEqual({
    name: 't0',
    isInternal: false,
    partitionCount: 2,
    partitions: [0, 1].map((number) => ({ ...partition(number), earliest: 4, end: 9, bytes: null })),
    offsetsProblem: null,
    sizesProblem: SIZES,
    configs: { problem: CONFIGS },
    connectors: ['mine'],
  })
  expect(await restricted(3).groups('t0')).toEqual({
    groups: [
      { groupId: 'g1', state: null, members: null, lag: 7, partitions: [{ partition: 1, offset: 2, end: 9, lag: 7 }] },
    ],
    groupCount: 2,
    askedGroups: 2,
    problems: [GROUP],
  })
  expect(await restricted(3).describe('none', () => true)).toBeUndefined()
  expect(await restricted(3).groups('none')).toBeUndefined()
})
