import type { Broker } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker-client.ts'

/**
 * The transactional id of an exactly-once source task's producer. Opening a producer with the same id fences the
 * others.
 */
export function transactionalIdOf(groupId: string, { connector, task }: TaskId): string {
  return `${groupId}-${connector}-${task}`
}

/** Fences all producers with this id and aborts their open transaction. */
export async function fenceProducer(broker: Broker, transactionalId: string): Promise<void> {
  const producer = await broker.producer({ transactionalId })
  await producer.close()
}
