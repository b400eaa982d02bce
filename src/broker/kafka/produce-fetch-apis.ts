import type {
  BackendRequest,
  FetchedPartition,
  FetchRequest,
  PartitionError,
  ProduceResult,
  TopicMetadata,
} from '../broker-backend.ts'
import { byTopic, readTopics, writeTopics } from '../protocol-primitives.ts'
import type { KafkaApi } from './kafka-api.ts'
import { toPartitionError } from './kafka-error.ts'

/** APIs of metadata, produce, fetch and offsets. */

export type ClusterMetadata = {
  readonly clusterId: string
  readonly controller: number
  readonly nodes: readonly { readonly id: number; readonly host: string; readonly port: number }[]
  readonly topics: readonly (TopicMetadata & { readonly errorNumber: number })[]
}

export const metadataApi: KafkaApi<readonly string[] | undefined, ClusterMetadata> = {
  key: 3,
  name: 'Metadata',
  version: 7,
  write: (writer, topics) => {
    if (topics === undefined) writer.int32(-1)
    else writer.array(topics, (topic) => writer.string(topic))
    // Do not create topics.
    writer.bool(false)
  },
  read: (reader) => {
    reader.int32()
    const nodes = reader.array(() => ({
      id: reader.int32(),
      host: reader.string(),
      port: reader.int32(),
      rack: reader.nullableString(),
    }))
    const clusterId = reader.string()
    const controller = reader.int32()
    const topics = reader.array(() => ({
      errorNumber: reader.int16(),
      topic: reader.string(),
      internal: reader.bool(),
      partitions: reader.array(() => {
        reader.int16()
        const partition = reader.int32()
        const leader = reader.int32()
        reader.int32()
        const replicas = reader.array(() => reader.int32()).length
        reader.array(() => reader.int32())
        reader.array(() => reader.int32())
        return { partition, leader, replicas }
      }),
    }))
    return { clusterId, controller, nodes, topics }
  },
}

export const produceApi: KafkaApi<BackendRequest<'produce'>, readonly ProduceResult[]> = {
  key: 0,
  name: 'Produce',
  version: 8,
  write: (writer, { batches, transactionalId, timeoutMs }) => {
    writer
      .string(transactionalId ?? null)
      .int16(-1)
      .int32(timeoutMs)
    writeTopics(writer, byTopic(batches), ({ partition, bytes }) => writer.int32(partition).bytes(bytes))
  },
  read: (reader) =>
    readTopics(reader, (topic) => {
      const partition = reader.int32()
      const errorNumber = reader.int16()
      const baseOffset = reader.int64()
      reader.int64()
      reader.int64()
      const rejections = reader.array(() => ({ at: reader.int32(), why: reader.nullableString() }))
      const ofAll = reader.nullableString()
      const error = toPartitionError(errorNumber, `writing to ${topic}-${partition}`, rejections[0]?.why ?? ofAll)
      return { topic, partition, baseOffset, ...errorOf(error), rejectedRecords: rejections.map(({ at }) => at) }
    }),
}

export const fetchApi: KafkaApi<FetchRequest, readonly FetchedPartition[]> = {
  key: 1,
  name: 'Fetch',
  version: 11,
  write: (writer, { partitions, waitMsMax, bytesMin, bytesMax, isolation }) => {
    const isolationLevel = isolation === 'read_committed' ? 1 : 0
    // No fetch session: each request is complete.
    writer.int32(-1).int32(waitMsMax).int32(bytesMin).int32(bytesMax).int8(isolationLevel).int32(0).int32(-1)
    const bytesEach = partitions.length === 1 ? bytesMax : Math.max(1_048_576, Math.floor(bytesMax / partitions.length))
    writeTopics(writer, byTopic(partitions), ({ partition, offset }) =>
      writer.int32(partition).int32(-1).int64(offset).int64(-1).int32(bytesEach),
    )
    writer.array([], () => undefined).string('')
  },
  read: (reader) => {
    reader.int32()
    reader.int16()
    reader.int32()
    return readTopics(reader, (topic) => {
      const partition = reader.int32()
      const error = toPartitionError(reader.int16(), `reading ${topic}-${partition}`)
      const highWatermark = reader.int64()
      const lastStableOffset = reader.int64()
      const startOffset = reader.int64()
      const aborted = reader.array(() => ({ producerId: reader.bigint(), firstOffset: reader.int64() }))
      reader.int32()
      const bytes = reader.bytes()
      const endOffset = lastStableOffset >= 0 ? lastStableOffset : highWatermark
      return { topic, partition, bytes, endOffset, startOffset, aborted, ...errorOf(error) }
    })
  },
}

const EARLIEST = -2
const LATEST = -1

export type FoundOffset = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly error?: PartitionError
}

export const listOffsetsApi: KafkaApi<BackendRequest<'listOffsets'>, readonly FoundOffset[]> = {
  key: 2,
  name: 'ListOffsets',
  version: 2,
  write: (writer, { partitions, at, isolation }) => {
    const timestamp = at === 'earliest' ? EARLIEST : at === 'latest' ? LATEST : at
    writer.int32(-1).int8(isolation === 'read_committed' ? 1 : 0)
    writeTopics(writer, byTopic(partitions), ({ partition }) => writer.int32(partition).int64(timestamp))
  },
  read: (reader) => {
    reader.int32()
    return readTopics(reader, (topic) => {
      const partition = reader.int32()
      const error = toPartitionError(reader.int16(), `offsets of ${topic}-${partition}`)
      reader.int64()
      return { topic, partition, offset: reader.int64(), ...errorOf(error) }
    })
  },
}

function errorOf(error: PartitionError | undefined): { error?: PartitionError } {
  return error ? { error } : {}
}
