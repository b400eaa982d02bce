import type { NewTopic } from '../broker.ts'
import type { BackendRequest } from '../broker-backend.ts'
import type { KafkaApi } from './kafka-api.ts'
import { throwOnError } from './kafka-error.ts'

/** APIs of topics and their configurations. */

const TIMEOUT_MS = 30_000
const TOPIC_RESOURCE = 2
const SET = 0
const DELETE = 1
/** The source of a configuration that is set on the topic itself. */
const TOPIC_SOURCE = 1

export const createTopicsApi: KafkaApi<NewTopic, { readonly errorNumber: number; readonly message: string | null }> = {
  key: 19,
  name: 'CreateTopics',
  version: 4,
  write: (writer, { name, partitions = -1, replicationFactor = -1, configs = {} }) =>
    writer
      .array([name], (topic) =>
        writer
          .string(topic)
          .int32(partitions)
          .int16(replicationFactor)
          .array([], () => undefined)
          .array(Object.entries(configs), ([key, value]) => writer.string(key).string(value)),
      )
      .int32(TIMEOUT_MS)
      .bool(false),
  read: (reader) => {
    reader.int32()
    const [result] = reader.array(() => {
      reader.string()
      return { errorNumber: reader.int16(), message: reader.nullableString() }
    })
    return result ?? { errorNumber: 0, message: null }
  },
}

export const deleteTopicsApi: KafkaApi<string, void> = {
  key: 20,
  name: 'DeleteTopics',
  version: 3,
  write: (writer, topic) => writer.array([topic], (name) => writer.string(name)).int32(TIMEOUT_MS),
  read: (reader) => {
    reader.int32()
    reader.array(() => {
      const topic = reader.string()
      throwOnError(reader.int16(), `deleting topic '${topic}'`)
    })
  },
}

export const createPartitionsApi: KafkaApi<BackendRequest<'addPartitions'>, void> = {
  key: 37,
  name: 'CreatePartitions',
  version: 1,
  write: (writer, { topic, total }) =>
    writer
      .array([topic], (name) => writer.string(name).int32(total).int32(-1))
      .int32(TIMEOUT_MS)
      .bool(false),
  read: (reader) => {
    reader.int32()
    reader.array(() => {
      const topic = reader.string()
      throwOnError(reader.int16(), `adding partitions to '${topic}'`, reader.nullableString())
    })
  },
}

/** `isOwn`: set on the topic itself. */
type DescribedConfig = { readonly name: string; readonly value: string; readonly isOwn: boolean }

export const describeConfigsApi: KafkaApi<string, readonly DescribedConfig[]> = {
  key: 32,
  name: 'DescribeConfigs',
  version: 1,
  write: (writer, topic) =>
    writer.array([topic], (name) => writer.int8(TOPIC_RESOURCE).string(name).int32(-1)).bool(false),
  read: (reader) => {
    reader.int32()
    const [configs = []] = reader.array(() => {
      const errorNumber = reader.int16()
      const message = reader.nullableString()
      reader.int8()
      throwOnError(errorNumber, `configs of topic '${reader.string()}'`, message)
      const entries = reader.array(() => {
        const [name, value] = [reader.string(), reader.nullableString()]
        reader.bool()
        const isOwn = reader.int8() === TOPIC_SOURCE
        reader.bool()
        reader.array(() => [reader.string(), reader.nullableString(), reader.int8()])
        return { name, value, isOwn }
      })
      return entries.filter((entry): entry is DescribedConfig => entry.value !== null)
    })
    return configs
  },
}

export const incrementalAlterConfigsApi: KafkaApi<BackendRequest<'setTopicConfigs'>, void> = {
  key: 44,
  name: 'IncrementalAlterConfigs',
  version: 0,
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
  read: (reader) => {
    reader.int32()
    reader.array(() => {
      const errorNumber = reader.int16()
      const message = reader.nullableString()
      reader.int8()
      throwOnError(errorNumber, `configs of topic '${reader.string()}'`, message)
    })
  },
}
