import type { ProduceResult } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import type { TopicPartition } from '../topic-partition.ts'

export function missingPartition(topic: string, partition: number, partitions: number): BrokerError {
  return new BrokerError(
    'topic_not_found',
    `topic '${topic}' has no partition ${partition}: its partitions are 0 to ${partitions - 1}`,
  )
}

export function timeoutError({ topic, partition }: TopicPartition, timeoutMs: number): BrokerError {
  return new BrokerError(
    'timeout',
    `${topic}-${partition} accepted no records for ${timeoutMs} ms: it has no leader, or the broker is unreachable`,
  )
}

/** The error of a batch: that of its partition, or of the whole request. */
export function produceError(
  { topic, partition }: TopicPartition,
  result: ProduceResult | undefined,
  failure: unknown,
): BrokerError {
  if (result?.error) return BrokerError.of(result.error)
  if (failure instanceof BrokerError) return failure
  if (failure instanceof Error) return new BrokerError('unavailable', failure.message, { cause: failure })
  return new BrokerError('timeout', `no response for ${topic}-${partition}`)
}
