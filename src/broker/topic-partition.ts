export type TopicPartition = { readonly topic: string; readonly partition: number }
export type PartitionOffset = TopicPartition & { readonly offset: number }

/** A partition as a map key. Topic names cannot contain a colon. */
export function topicPartitionKey({ topic, partition }: TopicPartition): string {
  return `${topic}:${partition}`
}

/** Where a reader without a position starts: also at the first record of the last `sinceMs`, or at the end if there is none. */
export type StartPoint = 'earliest' | 'latest' | { readonly sinceMs: number }

export function startOffsetAt(start: StartPoint, nowMs: number): 'earliest' | 'latest' | number {
  return typeof start === 'string' ? start : Math.max(0, Math.floor(nowMs - start.sinceMs))
}
