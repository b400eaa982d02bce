import { z } from 'zod'
import type { Broker, ProducerIdentity } from '../../broker/broker.ts'
import { NOOP_KEY, type RawRecord } from './record-codec.ts'

/** By context, the largest ID that was assigned, where no version has it any more. */
export type RetiredIds = Readonly<Record<string, number>>

/**
 * The first record of a leader: from its offset on, brokers accept records of this producer only, so that no earlier
 * leader can write (ADR 21). The leader writes it again when an ID is retired.
 */
export type LeaderClaim = {
  readonly identity: ProducerIdentity
  /** Distinguishes claims of two instances with the same identity, of which the broker stores one. */
  readonly nonce: string
  readonly retiredIds: RetiredIds
}

/** Producers of the last epoch write no claim: with it, a producer id ends. */
const EPOCH_MAX = 32_767

const claimSpec = z.object({
  leader: z.object({
    producerId: z.string().regex(/^\d{1,19}$/),
    epoch: z
      .int()
      .min(0)
      .max(EPOCH_MAX - 1),
    nonce: z.string(),
  }),
  // Claims of earlier leaders have none.
  retiredIds: z.record(z.string(), z.int().positive()).default({}),
})

/** A marker of Confluent's registry, which ignores the value. It has one, because compaction removes records without. */
export function claimRecord({ identity: { producerId, epoch }, nonce, retiredIds }: LeaderClaim): RawRecord {
  const hasRetired = Object.keys(retiredIds).length > 0
  const leader = { producerId: String(producerId), epoch, nonce }
  const value = JSON.stringify({ leader, ...(hasRetired && { retiredIds }) })
  return { key: Buffer.from(NOOP_KEY), value: Buffer.from(value) }
}

/** Undefined if the record is not a claim. */
export function parseClaim(value: Buffer | null): LeaderClaim | undefined {
  const { success, data } = claimSpec.safeParse(parseJson(value?.toString('utf8') ?? ''))
  if (!success) return undefined
  const { leader, retiredIds } = data
  return { identity: { producerId: BigInt(leader.producerId), epoch: leader.epoch }, nonce: leader.nonce, retiredIds }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type IdentitySources = {
  /** The identity of the last claim in the topic. */
  readonly last: ProducerIdentity | undefined
  /** An identity that the broker rejected, because a higher epoch was used without a claim. */
  readonly rejected: ProducerIdentity | undefined
  /** The identity of the transactional ID, with which leaders of Weir wrote before there were claims. */
  readonly ofTransactionalId: ProducerIdentity | undefined
}

/** The identity that fences all earlier leaders. Undefined if there was none, or if its producer id has no epoch left. */
export function nextIdentity({ last, rejected, ofTransactionalId }: IdentitySources): ProducerIdentity | undefined {
  const { producerId } = last ?? ofTransactionalId ?? {}
  if (producerId === undefined) return undefined
  const used = [last, rejected].filter((identity) => identity?.producerId === producerId)
  const epochs = used.map((identity) => identity!.epoch + 1)
  if (ofTransactionalId?.producerId === producerId) epochs.push(ofTransactionalId.epoch)
  const epoch = Math.max(...epochs)
  return epoch < EPOCH_MAX ? { producerId, epoch } : undefined
}

/** Ends a producer id, so that no earlier leader can write to the topic, and returns another one. */
export async function replaceProducerId(
  broker: Broker,
  topic: string,
  { producerId }: ProducerIdentity,
): Promise<ProducerIdentity> {
  const last = await broker.producer({ identity: { producerId, epoch: EPOCH_MAX } })
  try {
    await last.send([{ topic, partition: 0, key: Buffer.from(NOOP_KEY), value: null }])
  } finally {
    await last.close()
  }
  return broker.newProducerIdentity()
}
