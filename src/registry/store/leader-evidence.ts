import type { Broker, ProducerIdentity } from '../../broker/broker.ts'
import { isDenied } from '../../broker/broker-error.ts'

// Every leader registers the same transactional ID. If the broker knows this ID, the topic once had records, even if the
// topic and the committed offsets of the group were deleted since.

/** Returns the reason why the topic cannot be empty, or undefined if there is no evidence that it had records. */
export async function evidenceOfLeader(broker: Broker, transactionalId: string): Promise<string | undefined> {
  try {
    const hasLed = await broker.hasTransactionalId(transactionalId)
    return hasLed
      ? `it had records: the broker knows the transactional ID '${transactionalId}' of an earlier registry leader`
      : undefined
  } catch (error) {
    // The registry needs no right on transactional IDs.
    if (isDenied(error)) return undefined
    throw error
  }
}

/** Registers the transactional ID with the broker. Best effort: the registry works without this evidence. */
export async function rememberLeader(broker: Broker, transactionalId: string): Promise<void> {
  await registerLeader(broker, transactionalId).catch(() => undefined)
}

/** Registers the transactional ID, and returns its producer in a new epoch; undefined without the right to it. */
export async function registerLeader(broker: Broker, transactionalId: string): Promise<ProducerIdentity | undefined> {
  try {
    return await broker.newProducerIdentity(transactionalId)
  } catch (error) {
    if (isDenied(error)) return undefined
    throw error
  }
}
