import type { Broker } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'

// Every leader writes with the same transactional ID (`fencingId`). If the broker knows this ID, the topic once had
// records, even if the topic and the committed offsets of the group were deleted since.

/** Returns the reason why the topic cannot be empty, or undefined if there is no evidence that it had records. */
export async function evidenceOfLeader(broker: Broker, fencingId: string): Promise<string | undefined> {
  try {
    const hasLed = await broker.hasTransactionalId(fencingId)
    return hasLed
      ? `it had records: the broker knows the transactional ID '${fencingId}' of an earlier registry leader`
      : undefined
  } catch (error) {
    // An instance that is not eligible as leader does not need the permission to describe transactional IDs.
    if (error instanceof BrokerError && error.code === 'not_authorized') return undefined
    throw error
  }
}

/** Registers the transactional ID with the broker. Best effort: failures are ignored. */
export async function rememberLeader(broker: Broker, fencingId: string): Promise<void> {
  try {
    await (await broker.producer({ fencingId })).close()
  } catch {
    // The registry works without this evidence.
  }
}
