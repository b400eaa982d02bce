import { packageVersion } from '../../common/package-version.ts'
import type { BackendRequest } from '../broker-backend.ts'
import type { KafkaApi } from './kafka-api.ts'

/** APIs that identify the cluster, topics and producers. Not every broker supports them. */

export type ApiVersions = ReadonlyMap<number, { readonly min: number; readonly max: number }>

/** The supported versions of each API. A broker closes the connection after a request in another version. */
export const apiVersionsApi: KafkaApi<void, ApiVersions> = {
  key: 18,
  name: 'ApiVersions',
  version: 0,
  rights: () => ({}),
  write: () => undefined,
  read: (reader, errors) => {
    errors.check(reader.int16(), 'requesting the API versions')
    const versions = reader.array(() => [reader.int16(), { min: reader.int16(), max: reader.int16() }] as const)
    return new Map(versions)
  },
}

const VERSION = packageVersion()
const FINALIZED_FEATURES_TAG = 2

/** The levels of the features that the cluster has finalized (KIP-584). */
export const featuresApi: KafkaApi<void, ReadonlyMap<string, number>> = {
  key: 18,
  name: 'ApiVersions',
  version: 3,
  isFlexible: true,
  hasFixedResponseHeader: true,
  rights: () => ({}),
  write: (writer) => writer.compactString('weir').compactString(VERSION).noTags(),
  read: (reader, errors) => {
    errors.check(reader.int16(), 'requesting the features of the cluster')
    reader.compactArray(() => {
      for (const _ of ['key', 'min', 'max']) reader.int16()
      reader.skipTags()
    })
    reader.int32()
    let features: (readonly [string, number])[] = []
    reader.tags((tag) => {
      if (tag !== FINALIZED_FEATURES_TAG) return false
      features = reader.compactArray(() => {
        const feature = [reader.compactString(), reader.int16()] as const
        reader.int16()
        reader.skipTags()
        return feature
      })
      return true
    })
    return new Map(features)
  },
}

/** Metadata in the version with topic ids (KIP-516). Undefined if the topic does not exist or has no id. */
export const topicIdApi: KafkaApi<string, string | undefined> = {
  key: 3,
  name: 'Metadata',
  version: 12,
  isFlexible: true,
  rights: () => ({ topic: 'DESCRIBE' }),
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
      const [high, low] = [reader.bigInt64(), reader.bigInt64()]
      return error === 0 && (high !== 0n || low !== 0n) ? `${high}:${low}` : undefined
      // The rest of the response is not needed, because a single topic was requested.
    })
    return id
  },
}

const TRANSACTIONAL_ID_NOT_FOUND = 105

/** DescribeTransactions (KIP-664): whether the coordinator knows a producer with this id. */
export const describeTransactionsApi: KafkaApi<BackendRequest<'hasTransactionalId'>, boolean> = {
  key: 65,
  name: 'DescribeTransactions',
  version: 0,
  isFlexible: true,
  rights: ({ transactionalId }) => ({ transactionalId: ['DESCRIBE', transactionalId] }),
  write: (writer, { transactionalId }) =>
    writer.compactArray([transactionalId], (id) => writer.compactString(id)).noTags(),
  read: (reader, errors) => {
    reader.int32()
    const [isKnown = false] = reader.compactArray(() => {
      const error = reader.int16()
      if (error !== TRANSACTIONAL_ID_NOT_FOUND) errors.check(error, 'describing a transactional id')
      return error === 0
    })
    return isKnown
  },
}
