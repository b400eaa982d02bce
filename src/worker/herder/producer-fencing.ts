import type { Broker } from '../../broker/broker.ts'
import type { TaskId } from '../../clients/worker.ts'

/** Of the producer of a task that writes exactly once: whoever opens another one shuts it out. */
export function transactionalIdOf(groupId: string, { connector, task }: TaskId): string {
  return `${groupId}-${connector}-${task}`
}

/** Shuts out every producer of this id, and ends what its transaction left open. */
export async function fenceProducer(broker: Broker, transactionalId: string): Promise<void> {
  const producer = await broker.producer({ transactionalId })
  await producer.close()
}
