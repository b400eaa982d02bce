import type {
  BackendRequest,
  FetchedPartition,
  FetchRequest,
  PartitionError,
  ProduceResult,
  TopicMetadata,
} from '../broker-backend.ts'
import { byTopic, type ProtocolReader, readTopics, writeTopics } from '../protocol-primitives.ts'
import type { KafkaApi } from './kafka-api.ts'

/** APIs of metadata, produce, fetch and offsets. */

export type ClusterMetadata = {
  readonly clusterId: string
  readonly controller: number
  readonly nodes: readonly { readonly id: number; readonly host: string; readonly port: number }[]
  /** `errorNumber` is 0 without an `error`. */
  readonly topics: readonly (TopicMetadata & { readonly errorNumber: number; readonly error?: PartitionError })[]
  /** Whether the client has to use its bootstrap servers again (KIP-1102). */
  readonly isRebootstrapRequired?: boolean
}

/** An error of the whole response, which later versions have only. */
const REBOOTSTRAP_REQUIRED = 129

const rebootstrapMetadataApi: KafkaApi<readonly string[] | undefined, ClusterMetadata> = {
  key: 3,
  name: 'Metadata',
  version: 13,
  isFlexible: true,
  rights: () => ({ topic: 'DESCRIBE' }),
  write: (writer, topics) =>
    writer
      .compactArray(topics, (topic) => writer.int64(0).int64(0).compactString(topic).noTags())
      // Neither create topics nor include authorized operations.
      .bool(false)
      .bool(false)
      .noTags(),
  read: (reader, errors) => {
    reader.int32()
    const nodes = reader.compactArray(() => {
      const node = { id: reader.int32(), host: reader.compactString(), port: reader.int32() }
      reader.compactString()
      reader.skipTags()
      return node
    })
    const clusterId = reader.compactString()
    const controller = reader.int32()
    const topics = reader.compactArray(() => {
      const errorNumber = reader.int16()
      const topic = reader.compactString()
      const error = errors.find(errorNumber, `metadata of topic '${topic}'`, { topic })
      // The topic id.
      reader.bigInt64()
      reader.bigInt64()
      const internal = reader.bool()
      const partitions = reader.compactArray(() => {
        reader.int16()
        const [partition, leader] = [reader.int32(), reader.int32()]
        reader.int32()
        const replicas = reader.compactArray(() => reader.int32()).length
        reader.compactArray(() => reader.int32())
        reader.compactArray(() => reader.int32())
        reader.skipTags()
        return { partition, leader, replicas }
      })
      reader.int32()
      reader.skipTags()
      return { topic, errorNumber, ...errorOf(error), internal, partitions }
    })
    return { clusterId, controller, nodes, topics, isRebootstrapRequired: reader.int16() === REBOOTSTRAP_REQUIRED }
  },
}

export const metadataApi: KafkaApi<readonly string[] | undefined, ClusterMetadata> = {
  key: 3,
  name: 'Metadata',
  version: 7,
  earlierVersion: 5,
  rights: () => ({ topic: 'DESCRIBE' }),
  newer: rebootstrapMetadataApi,
  write: (writer, topics) => {
    if (topics === undefined) writer.int32(-1)
    else writer.array(topics, (topic) => writer.string(topic))
    // Do not create topics.
    writer.bool(false)
  },
  read: (reader, errors, version) => {
    reader.int32()
    const nodes = reader.array(() => ({
      id: reader.int32(),
      host: reader.string(),
      port: reader.int32(),
      rack: reader.nullableString(),
    }))
    const clusterId = reader.string()
    const controller = reader.int32()
    const topics = reader.array(() => {
      const errorNumber = reader.int16()
      const topic = reader.string()
      const error = errors.find(errorNumber, `metadata of topic '${topic}'`, { topic })
      const internal = reader.bool()
      return { topic, errorNumber, ...errorOf(error), internal, partitions: readPartitions(reader, version) }
    })
    return { clusterId, controller, nodes, topics }
  },
}

/** The operations on the cluster and on topics that this client may perform, for `check-rights.ts`. */
export type MetadataOperations = {
  readonly cluster: number
  readonly topics: readonly { readonly topic: string; readonly isHidden: boolean; readonly operations: number }[]
}

export const metadataOperationsApi: KafkaApi<readonly string[], MetadataOperations> = {
  key: 3,
  name: 'Metadata',
  version: 8,
  rights: () => ({ topic: 'DESCRIBE' }),
  write: (writer, topics) =>
    writer
      .array(topics, (topic) => writer.string(topic))
      // Do not create topics; include the operations on the cluster and on topics.
      .bool(false)
      .bool(true)
      .bool(true),
  read: (reader, errors, version) => {
    reader.int32()
    reader.array(() => [reader.int32(), reader.string(), reader.int32(), reader.nullableString()])
    reader.nullableString()
    reader.int32()
    const topics = reader.array(() => {
      const error = errors.find(reader.int16(), 'operations on a topic')
      const topic = reader.string()
      reader.bool()
      readPartitions(reader, version)
      return { topic, isHidden: error?.code === 'not_authorized', operations: reader.int32() }
    })
    return { topics, cluster: reader.int32() }
  },
}

function readPartitions(reader: ProtocolReader, version: number): TopicMetadata['partitions'] {
  return reader.array(() => {
    reader.int16()
    const partition = reader.int32()
    const leader = reader.int32()
    if (version >= 7) reader.int32()
    const replicas = reader.array(() => reader.int32()).length
    reader.array(() => reader.int32())
    reader.array(() => reader.int32())
    return { partition, leader, replicas }
  })
}

/** `timeoutMs`: how long the broker may take to replicate the records. */
export const produceApi: KafkaApi<BackendRequest<'produce'>, readonly ProduceResult[]> = {
  key: 0,
  name: 'Produce',
  version: 8,
  // It does not name the rejected records of a batch.
  earlierVersion: 7,
  rights: ({ transactionalId }) => ({
    topic: 'WRITE',
    cluster: 'IDEMPOTENT_WRITE',
    ...(transactionalId === undefined ? {} : { transactionalId: ['WRITE', transactionalId] as const }),
  }),
  write: (writer, { batches, transactionalId, timeoutMs }) => {
    writer
      .string(transactionalId ?? null)
      .int16(-1)
      .int32(timeoutMs)
    writeTopics(writer, byTopic(batches), ({ partition, bytes }) => writer.int32(partition).data(bytes))
  },
  read: (reader, errors, version) =>
    readTopics(reader, (topic) => {
      const partition = reader.int32()
      const errorNumber = reader.int16()
      const baseOffset = reader.int64()
      reader.int64()
      reader.int64()
      const rejections = version >= 8 ? reader.array(() => ({ at: reader.int32(), why: reader.nullableString() })) : []
      const ofAll = version >= 8 ? reader.nullableString() : null
      const error = errors.find(errorNumber, `writing to ${topic}-${partition}`, {
        topic,
        detail: rejections[0]?.why ?? ofAll,
      })
      return { topic, partition, baseOffset, ...errorOf(error), rejectedRecords: rejections.map(({ at }) => at) }
    }),
}

export const fetchApi: KafkaApi<FetchRequest, readonly FetchedPartition[]> = {
  key: 1,
  name: 'Fetch',
  version: 11,
  // It has neither fetch sessions nor leader epochs, of which Weir uses none.
  earlierVersion: 6,
  rights: () => ({ topic: 'READ' }),
  write: (writer, { partitions, waitMsMax, bytesMin, bytesMax, isolation }, version) => {
    const isolationLevel = isolation === 'read_committed' ? 1 : 0
    writer.int32(-1).int32(waitMsMax).int32(bytesMin).int32(bytesMax).int8(isolationLevel)
    // No fetch session: each request is complete.
    if (version >= 7) writer.int32(0).int32(-1)
    const bytesEach = partitions.length === 1 ? bytesMax : Math.max(1_048_576, Math.floor(bytesMax / partitions.length))
    writeTopics(writer, byTopic(partitions), ({ partition, offset }) => {
      writer.int32(partition)
      if (version >= 9) writer.int32(-1)
      writer.int64(offset).int64(-1).int32(bytesEach)
    })
    if (version >= 7) writer.array([], () => undefined).string('')
  },
  read: (reader, errors, version) => {
    reader.int32()
    if (version >= 7) {
      reader.int16()
      reader.int32()
    }
    return readTopics(reader, (topic) => {
      const partition = reader.int32()
      const error = errors.find(reader.int16(), `reading ${topic}-${partition}`, { topic })
      const highWatermark = reader.int64()
      const lastStableOffset = reader.int64()
      const startOffset = reader.int64()
      const aborted = reader.array(() => ({ producerId: reader.bigInt64(), firstOffset: reader.int64() }))
      if (version >= 11) reader.int32()
      const bytes = reader.data()
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
  rights: () => ({ topic: 'DESCRIBE' }),
  write: (writer, { partitions, at, isolation }) => {
    const timestamp = at === 'earliest' ? EARLIEST : at === 'latest' ? LATEST : at
    writer.int32(-1).int8(isolation === 'read_committed' ? 1 : 0)
    writeTopics(writer, byTopic(partitions), ({ partition }) => writer.int32(partition).int64(timestamp))
  },
  read: (reader, errors) => {
    reader.int32()
    return readTopics(reader, (topic) => {
      const partition = reader.int32()
      const error = errors.find(reader.int16(), `offsets of ${topic}-${partition}`, { topic })
      reader.int64()
      return { topic, partition, offset: reader.int64(), ...errorOf(error) }
    })
  },
}

function errorOf(error: PartitionError | undefined): { error?: PartitionError } {
  return error ? { error } : {}
}
