import type { BrokerBackend } from './backend.ts'
import type { Isolation, NewTopic, OffsetAt, TopicAdmin } from './broker.ts'
import { BrokerError } from './error.ts'

const NAME = /^[A-Za-z0-9._-]{1,249}$/

export function createTopicAdmin(home: BrokerBackend): TopicAdmin {
  const partitionsOf = async (name: string) => {
    const [found] = await home.metadata({ topics: [name], fresh: true })
    if (!found) throw new BrokerError('topic_not_found', `there is no topic '${name}'`)
    return found.partitions.map(({ partition }) => ({ topic: name, partition }))
  }
  return {
    create: async (topic: NewTopic) => {
      checkName(topic.name)
      return home.createTopic(topic)
    },
    list: async () => (await home.metadata({ fresh: true })).map(({ topic }) => topic).sort(),
    describe: async (name) => {
      const [found] = await home.metadata({ topics: [name], fresh: true })
      if (!found) return undefined
      const { internal, partitions } = found
      return { name, internal, partitions, configs: await home.topicConfigs({ topic: name }) }
    },
    id: (topic) => home.topicId({ topic }),
    setConfigs: (topic, configs) => home.setTopicConfigs({ topic, configs }),
    addPartitions: (topic, total) => home.addPartitions({ topic, total }),
    delete: (topic) => home.deleteTopic({ topic }),
    offsets: async (name: string, at: OffsetAt, isolation: Isolation = 'read_committed') =>
      home.listOffsets({ partitions: await partitionsOf(name), at, isolation }),
  }
}

function checkName(name: string): void {
  if (NAME.test(name) && name !== '.' && name !== '..') return
  throw new BrokerError(
    'invalid_topic',
    `'${name}' is not a valid topic name: expected up to 249 letters, digits, '.', '_' and '-'`,
  )
}
