import type { Broker } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/error.ts'

// Every leader has had a producer of a certain id. That the broker knows this producer shows that a topic had records, even
// when the topic is gone, and the offsets of its group with it.

/** Why a topic cannot be empty. Undefined: nothing shows that it had records. */
export async function evidenceOfLeader(broker: Broker, fencingId: string): Promise<string | undefined> {
  try {
    const hasLed = await broker.hasTransactionalId(fencingId)
    return hasLed ? `a registry has led here: the broker knows its producer '${fencingId}'` : undefined
  } catch (error) {
    // An instance that may not lead need not be permitted to ask.
    if (error instanceof BrokerError && error.code === 'not_authorized') return undefined
    throw error
  }
}

/** Makes the broker know the producer, if it permits it: without it a registry works, too. */
export async function rememberLeader(broker: Broker, fencingId: string): Promise<void> {
  try {
    await (await broker.producer({ fencingId })).close()
  } catch {
    // There is less evidence then.
  }
}
