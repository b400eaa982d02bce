export type TopicPartition = { readonly topic: string; readonly partition: number }
export type PartitionOffset = TopicPartition & { readonly offset: number }

/** A partition as a map key. Topic names cannot contain a colon. */
export function topicPartitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}:${partition}`
}
