import { DataError, type SinkRecord } from '../../../sdk/index.ts'

/** Names the objects of a task. */
export type ObjectNames = {
  readonly hasTags: boolean
  /** The path that identifies the file of a record within a set, for the path of its partitioner. */
  pathOf(record: SinkRecord, path: string): string
  /** The key of the file that begins with the record. Throws a `DataError` if it is too long. */
  keyOf(record: SinkRecord, path: string, extension: string): string
  /** A prefix of the keys of a topic. */
  prefixOf(topic: string): string
  /** Whether the key is of a file of this topic partition, and of no other one. */
  isOfPartition(key: string, topic: string, partition: number): boolean
  tags(file: {
    readonly firstOffset: number
    readonly lastOffset: number
    readonly records: number
  }): Readonly<Record<string, string>>
}

/** The limit of all object stores. */
const KEY_BYTES_MAX = 1_024

export function checkKey(key: string): string {
  const bytes = Buffer.byteLength(key)
  if (bytes > KEY_BYTES_MAX)
    throw new DataError(`the key of the object has ${bytes} bytes: the maximum is ${KEY_BYTES_MAX}`)
  return key
}
