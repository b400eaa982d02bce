import type { CommittedOffset, TopicPartition } from '../broker.ts'
import type { Storage } from './storage.ts'

/** Stores committed offsets of a consumer group. Must be called inside a write, as `deleteOffsets` must. */
export function writeOffsets(storage: Storage, groupId: string, offsets: readonly CommittedOffset[]): void {
  const upsert = storage.prepare(
    `insert into group_offsets (group_name, topic, partition, offset, metadata) values (?, ?, ?, ?, ?)
     on conflict (group_name, topic, partition) do update set offset = excluded.offset, metadata = excluded.metadata`,
  )
  for (const { topic, partition, offset, metadata } of offsets) {
    upsert.run(groupId, topic, partition, offset, metadata ?? null)
  }
}

export function deleteOffsets(storage: Storage, groupId: string, partitions: readonly TopicPartition[]): void {
  const remove = storage.prepare('delete from group_offsets where group_name = ? and topic = ? and partition = ?')
  for (const { topic, partition } of partitions) remove.run(groupId, topic, partition)
}

/** Returns committed offsets in order of topic and partition; without `partitions`, all offsets of the group. */
export function readOffsets(
  storage: Storage,
  groupId: string,
  partitions?: readonly TopicPartition[],
): readonly CommittedOffset[] {
  const rows = storage.guarded(() =>
    storage.prepare('select topic, partition, offset, metadata from group_offsets where group_name = ?').all(groupId),
  )
  const requested = partitions && new Set(partitions.map(({ topic, partition }) => `${topic}/${partition}`))
  const offsets = rows.map((row): CommittedOffset => {
    const metadata = row['metadata']
    const at = { topic: String(row['topic']), partition: Number(row['partition']), offset: Number(row['offset']) }
    return metadata === null ? at : { ...at, metadata: String(metadata) }
  })
  return requested === undefined ? offsets : offsets.filter((at) => requested.has(`${at.topic}/${at.partition}`))
}
