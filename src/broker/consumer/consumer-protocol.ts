import type { JoinedMember, TopicPartition } from '../broker.ts'
import { byTopic, ProtocolReader, ProtocolWriter, readTopics, writeTopics } from '../protocol-primitives.ts'

/**
 * Metadata that members of consumer groups exchange (ConsumerProtocolSubscription and ConsumerProtocolAssignment,
 * version 0, which every client reads) and the range assignor, so that a group can include Java consumers.
 */
export const RANGE = 'range'

const VERSION = 0
/** The length of an absent byte array. */
const NO_USER_DATA = -1

export function encodeSubscription(topics: readonly string[]): Uint8Array {
  const writer = new ProtocolWriter().int16(VERSION)
  return bytesOf(writer.array(topics, (topic) => writer.string(topic)).int32(NO_USER_DATA))
}

/** Throws when the bytes are truncated. */
export function decodeSubscription(bytes: Uint8Array): readonly string[] {
  const reader = readerAfterVersion(bytes)
  return reader.array(() => reader.string())
}

export function encodeAssignment(partitions: readonly TopicPartition[]): Uint8Array {
  const writer = new ProtocolWriter().int16(VERSION)
  writeTopics(writer, byTopic(partitions), ({ partition }) => writer.int32(partition))
  return bytesOf(writer.int32(NO_USER_DATA))
}

/** Empty bytes mean that the leader assigned no partitions to this member. Throws when the bytes are truncated. */
export function decodeAssignment(bytes: Uint8Array): readonly TopicPartition[] {
  if (bytes.length === 0) return []
  const reader = readerAfterVersion(bytes)
  return readTopics(reader, (topic) => ({ topic, partition: reader.int32() }))
}

/**
 * Assigns each topic as consecutive ranges to its subscribers, in the order that Java uses: by instance id, otherwise
 * by member id. The first members get one more partition.
 */
export function assignRanges(
  members: readonly JoinedMember[],
  partitionsOf: ReadonlyMap<string, number>,
): ReadonlyMap<string, Uint8Array> {
  const shares = new Map<string, TopicPartition[]>(members.map(({ memberId }) => [memberId, []]))
  const subscribers = new Map<string, string[]>()
  for (const { memberId, metadata } of members.toSorted(compareMembers)) {
    for (const topic of decodeSubscription(metadata))
      subscribers.set(topic, [...(subscribers.get(topic) ?? []), memberId])
  }
  for (const [topic, ids] of subscribers) {
    const count = partitionsOf.get(topic) ?? 0
    ids.forEach((id, at) => {
      const [size, extra] = [Math.floor(count / ids.length), count % ids.length]
      const start = size * at + Math.min(at, extra)
      const end = start + size + (at < extra ? 1 : 0)
      for (let partition = start; partition < end; partition++) shares.get(id)?.push({ topic, partition })
    })
  }
  return new Map([...shares].map(([id, partitions]) => [id, encodeAssignment(partitions)]))
}

function compareMembers(one: JoinedMember, other: JoinedMember): number {
  if (one.instanceId === undefined && other.instanceId === undefined) return one.memberId < other.memberId ? -1 : 1
  if (one.instanceId === undefined || other.instanceId === undefined) return one.instanceId === undefined ? 1 : -1
  return one.instanceId < other.instanceId ? -1 : 1
}

function bytesOf(writer: ProtocolWriter): Uint8Array {
  return Buffer.concat(writer.parts())
}

/** Newer versions only append fields, so the version is skipped. */
function readerAfterVersion(bytes: Uint8Array): ProtocolReader {
  const reader = new ProtocolReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  reader.int16()
  return reader
}
