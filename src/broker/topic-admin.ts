import type { Isolation, NewTopic, OffsetAt, TopicAdmin, TopicPartition } from './broker.ts'
import type { BrokerBackend } from './broker-backend.ts'
import { BrokerError } from './broker-error.ts'

const NAME = /^[A-Za-z0-9._-]{1,249}$/

export function createTopicAdmin(backend: BrokerBackend): TopicAdmin {
  const partitionsOf = async (name: string) => {
    const [found] = await backend.metadata({ topics: [name], fresh: true })
    if (!found) throw new BrokerError('topic_not_found', `topic '${name}' does not exist`)
    return found.partitions.map(({ partition, leader }) => ({ topic: name, partition, leader }))
  }
  const described = async (request: { readonly topics?: readonly string[] }) =>
    (await backend.metadata({ ...request, fresh: true })).map(({ topic, internal, partitions }) => ({
      name: topic,
      internal,
      partitions,
    }))
  return {
    create: async (topic: NewTopic) => {
      checkName(topic.name)
      return backend.createTopic(topic)
    },
    list: async () => (await backend.metadata({ fresh: true })).map(({ topic }) => topic).sort(),
    describe: async (name) => (await described({ topics: [name] }))[0],
    describeAll: (names) => described(names === undefined ? {} : { topics: names }),
    configValues: (topics, names) => backend.topicConfigValues({ topics, names }),
    sizes: async (partitions) => {
      const largest = new Map<string, TopicPartition & { readonly bytes: number }>()
      for (const replica of await backend.replicaSizes({ partitions })) {
        const key = `${replica.partition} ${replica.topic}`
        if (replica.bytes > (largest.get(key)?.bytes ?? -1)) largest.set(key, replica)
      }
      return [...largest.values()]
    },
    id: (topic) => backend.topicId({ topic }),
    configs: (topic) => backend.topicConfigs({ topic }),
    ownConfigs: (topic) => backend.topicConfigs({ topic, isOwn: true }),
    setConfigs: (topic, configs) => backend.setTopicConfigs({ topic, configs }),
    addPartitions: (topic, total) => backend.addPartitions({ topic, total }),
    delete: (topic) => backend.deleteTopic({ topic }),
    offsets: async (name: string, at: OffsetAt, isolation: Isolation = 'read_committed') =>
      backend.listOffsets({ partitions: await partitionsOf(name), at, isolation }),
  }
}

function checkName(name: string): void {
  if (NAME.test(name) && name !== '.' && name !== '..') return
  throw new BrokerError(
    'invalid_topic',
    `'${name}' is not a valid topic name: expected up to 249 letters, digits, '.', '_' and '-'`,
  )
}
