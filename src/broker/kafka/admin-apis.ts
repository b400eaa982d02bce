import type { NewTopic, TopicPartition } from '../broker.ts'
import type { BackendRequest, PartitionError, ReplicaSize } from '../broker-backend.ts'
import { byTopic, readTopics, writeTopics } from '../protocol-primitives.ts'
import type { KafkaApi } from './kafka-api.ts'

/** APIs of topics and their configurations. */

const TOPIC_RESOURCE = 2
const SET = 0
const DELETE = 1
/** The source of a configuration that is set on the topic itself. */
const TOPIC_SOURCE = 1

/** How long the broker may take, besides what it changes. */
type Timed<Change> = Change & { readonly timeoutMs: number }

/** `errorNumber` is 0 without an `error`. */
export const createTopicsApi: KafkaApi<
  Timed<NewTopic>,
  { readonly errorNumber: number; readonly error?: PartitionError | undefined }
> = {
  key: 19,
  name: 'CreateTopics',
  version: 4,
  rights: () => ({ topic: 'CREATE' }),
  write: (writer, { name, partitions = -1, replicationFactor = -1, configs = {}, timeoutMs }) =>
    writer
      .array([name], (topic) =>
        writer
          .string(topic)
          .int32(partitions)
          .int16(replicationFactor)
          .array([], () => undefined)
          .array(Object.entries(configs), ([key, value]) => writer.string(key).string(value)),
      )
      .int32(timeoutMs)
      .bool(false),
  read: (reader, errors) => {
    reader.int32()
    const [result] = reader.array(() => {
      const topic = reader.string()
      const errorNumber = reader.int16()
      const error = errors.find(errorNumber, `creating topic '${topic}'`, { topic, detail: reader.nullableString() })
      return { errorNumber, error }
    })
    return result ?? { errorNumber: 0 }
  },
}

export const deleteTopicsApi: KafkaApi<Timed<{ readonly topic: string }>, void> = {
  key: 20,
  name: 'DeleteTopics',
  version: 3,
  rights: () => ({ topic: 'DELETE' }),
  write: (writer, { topic, timeoutMs }) => writer.array([topic], (name) => writer.string(name)).int32(timeoutMs),
  read: (reader, errors) => {
    reader.int32()
    reader.array(() => {
      const topic = reader.string()
      errors.check(reader.int16(), `deleting topic '${topic}'`, { topic })
    })
  },
}

export const createPartitionsApi: KafkaApi<Timed<BackendRequest<'addPartitions'>>, void> = {
  key: 37,
  name: 'CreatePartitions',
  version: 1,
  rights: () => ({ topic: 'ALTER' }),
  write: (writer, { topic, total, timeoutMs }) =>
    writer
      .array([topic], (name) => writer.string(name).int32(total).int32(-1))
      .int32(timeoutMs)
      .bool(false),
  read: (reader, errors) => {
    reader.int32()
    reader.array(() => {
      const topic = reader.string()
      errors.check(reader.int16(), `adding partitions to '${topic}'`, { topic, detail: reader.nullableString() })
    })
  },
}

/** `isOwn`: set on the topic itself. */
type DescribedConfig = { readonly name: string; readonly value: string; readonly isOwn: boolean }

/** The configs of one topic. */
type DescribedTopic = {
  readonly topic: string
  readonly configs: readonly DescribedConfig[]
  readonly error: PartitionError | undefined
}

/** Without `names`: all configs. */
export const describeConfigsApi: KafkaApi<
  { readonly topics: readonly string[]; readonly names?: readonly string[] },
  readonly DescribedTopic[]
> = {
  key: 32,
  name: 'DescribeConfigs',
  version: 1,
  rights: () => ({ topic: 'DESCRIBE_CONFIGS' }),
  write: (writer, { topics, names }) =>
    writer
      .array(topics, (topic) => {
        writer.int8(TOPIC_RESOURCE).string(topic)
        return names === undefined ? writer.int32(-1) : writer.array(names, (name) => writer.string(name))
      })
      .bool(false),
  read: (reader, errors) => {
    reader.int32()
    return reader.array(() => {
      const errorNumber = reader.int16()
      const detail = reader.nullableString()
      reader.int8()
      const topic = reader.string()
      const error = errors.find(errorNumber, `configs of topic '${topic}'`, { topic, detail })
      const entries = reader.array(() => {
        const [name, value] = [reader.string(), reader.nullableString()]
        reader.bool()
        const isOwn = reader.int8() === TOPIC_SOURCE
        reader.bool()
        reader.array(() => [reader.string(), reader.nullableString(), reader.int8()])
        return { name, value, isOwn }
      })
      return { topic, error, configs: entries.filter((entry): entry is DescribedConfig => entry.value !== null) }
    })
  },
}

const CLUSTER_AUTHORIZATION_FAILED = 31

/** The replicas of one node. */
export const describeLogDirsApi: KafkaApi<readonly TopicPartition[], readonly ReplicaSize[]> = {
  key: 35,
  name: 'DescribeLogDirs',
  version: 1,
  rights: () => ({ cluster: 'DESCRIBE' }),
  write: (writer, partitions) =>
    writeTopics(writer, byTopic(partitions), ({ partition }: TopicPartition) => writer.int32(partition)),
  read: (reader, errors) => {
    reader.int32()
    const directories = reader.array(() => {
      const errorNumber = reader.int16()
      const directory = reader.string()
      errors.check(errorNumber, `log directory '${directory}'`)
      return readTopics(reader, (topic) => {
        const [partition, bytes] = [reader.int32(), reader.int64()]
        reader.int64()
        // A replica that is being moved to another directory is there twice.
        const isFuture = reader.bool()
        return { topic, partition, bytes, isFuture }
      })
    })
    // Each node has a directory: this version of the API has no other sign of the missing right.
    if (directories.length === 0) errors.check(CLUSTER_AUTHORIZATION_FAILED, 'sizes of partitions')
    return directories.flat().flatMap(({ isFuture, ...replica }) => (isFuture ? [] : [replica]))
  },
}

export const incrementalAlterConfigsApi: KafkaApi<BackendRequest<'setTopicConfigs'>, void> = {
  key: 44,
  name: 'IncrementalAlterConfigs',
  version: 0,
  rights: () => ({ topic: 'ALTER_CONFIGS' }),
  write: (writer, { topic, configs }) =>
    writer
      .array([topic], (name) =>
        writer
          .int8(TOPIC_RESOURCE)
          .string(name)
          .array(Object.entries(configs), ([key, value]) =>
            writer
              .string(key)
              .int8(value === null ? DELETE : SET)
              .string(value),
          ),
      )
      .bool(false),
  read: (reader, errors) => {
    reader.int32()
    reader.array(() => {
      const errorNumber = reader.int16()
      const detail = reader.nullableString()
      reader.int8()
      const topic = reader.string()
      errors.check(errorNumber, `configs of topic '${topic}'`, { topic, detail })
    })
  },
}
