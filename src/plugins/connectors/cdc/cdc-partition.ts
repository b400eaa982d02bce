import type { Position } from '../../../sdk/index.ts'

/** The source partition, which is the same as Debezium's. */
export function cdcPartition(topicPrefix: string): Position {
  return { server: topicPrefix }
}
