import type { Broker, ProducerIdentity, TopicPartition } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker-client.ts'

/**
 * The transactional id of an exactly-once source task's producer. Opening a producer with the same id fences the
 * others.
 */
export function transactionalIdOf(groupId: string, { connector, task }: TaskId): string {
  return `${groupId}-${connector}-${task}`
}

/** Fences all producers with this id and aborts their open transaction. Resolves with the identity that the id has from then on. */
export function fenceProducer(broker: Broker, transactionalId: string): Promise<ProducerIdentity> {
  return broker.newProducerIdentity(transactionalId)
}

/**
 * Ends a transaction of this id that is still open in some of these partitions although its coordinator has forgotten
 * it: Kafka may skip the markers of a transaction when a broker restarts, and no producer with another id can end it.
 * Partitions without such a transaction only get an abort marker.
 */
export async function abortForgottenTransaction(
  broker: Broker,
  transactionalId: string,
  partitions: readonly TopicPartition[],
): Promise<void> {
  const producer = await broker.producer({ transactionalId })
  try {
    producer.begin()
    await producer.addPartitions(partitions)
    await producer.abort()
  } finally {
    await producer.close()
  }
}

/** The existing partitions of these topics. */
export async function partitionsOf(broker: Broker, topics: readonly string[]): Promise<readonly TopicPartition[]> {
  const described = await Promise.all(topics.map((topic) => broker.topics.describe(topic)))
  return described.flatMap((topic) =>
    (topic?.partitions ?? []).map(({ partition }) => ({ topic: topic!.name, partition })),
  )
}
