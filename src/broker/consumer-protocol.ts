import type { JoinedMember, TopicPartition } from './broker.ts'

/**
 * Metadata that members of consumer groups exchange (ConsumerProtocolSubscription and ConsumerProtocolAssignment,
 * version 0, which every client reads) and the range assignor, so that a group can include Java consumers.
 */
export const RANGE = 'range'

export function encodeSubscription(topics: readonly string[]): Uint8Array {
  return Buffer.concat([int16(0), int32(topics.length), ...topics.map(text), int32(-1)])
}

export function decodeSubscription(bytes: Uint8Array): readonly string[] {
  const cursor = new Cursor(bytes)
  cursor.int16()
  return Array.from({ length: cursor.int32() }, () => cursor.text())
}

export function encodeAssignment(partitions: readonly TopicPartition[]): Uint8Array {
  const topics = [...Map.groupBy(partitions, ({ topic }) => topic)].map(([topic, of]) =>
    Buffer.concat([text(topic), int32(of.length), ...of.map(({ partition }) => int32(partition))]),
  )
  return Buffer.concat([int16(0), int32(topics.length), ...topics, int32(-1)])
}

/** Empty bytes mean that the leader assigned no partitions to this member. */
export function decodeAssignment(bytes: Uint8Array): readonly TopicPartition[] {
  if (bytes.length === 0) return []
  const cursor = new Cursor(bytes)
  cursor.int16()
  return Array.from({ length: cursor.int32() }, () => {
    const topic = cursor.text()
    return Array.from({ length: cursor.int32() }, () => ({ topic, partition: cursor.int32() }))
  }).flat()
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

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([int16(bytes.length), bytes])
}

class Cursor {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  int16(): number {
    this.#at += 2
    return this.#bytes.readInt16BE(this.#at - 2)
  }

  int32(): number {
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  text(): string {
    const length = this.int16()
    this.#at += length
    return this.#bytes.toString('utf8', this.#at - length, this.#at)
  }
}
