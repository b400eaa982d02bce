import type { KafkaApi } from './kafka-api.ts'
import { throwOnError } from './kafka-error.ts'

/** APIs that identify the cluster, topics and producers. Not every broker supports them: see `apiVersionsApi`. */

export type ApiVersions = ReadonlyMap<number, { readonly min: number; readonly max: number }>

/** The supported versions of each API. A broker closes the connection after a request in another version. */
export const apiVersionsApi: KafkaApi<void, ApiVersions> = {
  key: 18,
  name: 'ApiVersions',
  version: 0,
  write: () => undefined,
  read: (reader) => {
    throwOnError(reader.int16(), 'requesting the API versions')
    const versions = reader.array(() => [reader.int16(), { min: reader.int16(), max: reader.int16() }] as const)
    return new Map(versions)
  },
}

/** Metadata in the version with topic ids (KIP-516). Undefined if the topic does not exist or has no id. */
export const topicIdApi: KafkaApi<string, string | undefined> = {
  key: 3,
  name: 'Metadata',
  version: 12,
  isFlexible: true,
  write: (writer, topic) =>
    writer
      .compactArray([topic], (name) => writer.int64(0).int64(0).compactString(name).noTags())
      // Neither create the topic nor include authorized operations.
      .bool(false)
      .bool(false)
      .noTags(),
  read: (reader) => {
    reader.int32()
    reader.compactArray(() => {
      reader.int32()
      reader.compactString()
      reader.int32()
      reader.compactString()
      reader.skipTags()
    })
    reader.compactString()
    reader.int32()
    const [id] = reader.compactArray(() => {
      const error = reader.int16()
      reader.compactString()
      const [high, low] = [reader.bigint(), reader.bigint()]
      return error === 0 && (high !== 0n || low !== 0n) ? `${high}:${low}` : undefined
      // The rest of the response is not needed, because a single topic was requested.
    })
    return id
  },
}

const TRANSACTIONAL_ID_NOT_FOUND = 105

/** DescribeTransactions (KIP-664): whether the coordinator knows a producer with this id. */
export const describeTransactionsApi: KafkaApi<string, boolean> = {
  key: 65,
  name: 'DescribeTransactions',
  version: 0,
  isFlexible: true,
  write: (writer, id) => writer.compactArray([id], (one) => writer.compactString(one)).noTags(),
  read: (reader) => {
    reader.int32()
    const [isKnown = false] = reader.compactArray(() => {
      const error = reader.int16()
      if (error !== TRANSACTIONAL_ID_NOT_FOUND) throwOnError(error, 'describing a transactional id')
      return error === 0
    })
    return isKnown
  },
}
