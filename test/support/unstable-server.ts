import { randomAt } from '../../src/java-compat/avro-random-generator/random.ts'
import { type ReceivedRequest, type Reply, startHttpServer } from './http-server.ts'

/** The value of a record of `unstableRecords`. */
export type UnstableRecord = { readonly key: string; readonly n: number; readonly isBad: boolean }

const MOODS: readonly ((seen: ReceivedRequest) => Reply | Promise<Reply>)[] = [
  () => ({ status: 200 }),
  () => ({ status: 200 }),
  () => ({ status: 200 }),
  () => ({ status: 429, headers: { 'retry-after': '0' } }),
  () => ({ status: 503, body: 'not now' }),
  () => 'cut',
  () => 'half',
  // A slow response.
  () => new Promise((resolve) => setTimeout(() => resolve({ status: 200, body: 'x'.repeat(1000) }), 20)),
]

/**
 * Starts a server that accepts arrays of records. It responds with 200, 429, 503, a closed connection, a truncated or a
 * slow response, chosen by the seed, and rejects each array with a bad record. `accepted`: all accepted records, including
 * those whose response was lost.
 */
export async function startUnstableServer(seed: number) {
  const accepted: UnstableRecord[] = []
  let turn = 0
  const server = await startHttpServer(async (seen) => {
    const records = JSON.parse(seen.body) as readonly UnstableRecord[]
    if (records.some(({ isBad }) => isBad)) return { status: 422, body: 'a record is bad' }
    const reply = await MOODS[randomAt(seed, turn++).below(MOODS.length)]!(seen)
    if (reply === 'half' || (typeof reply === 'object' && reply.status === 200)) accepted.push(...records)
    return reply
  })
  return { ...server, accepted }
}

/** Records with a few different keys, ordered by `n`. A few of them are bad. */
export function unstableRecords(seed: number, count: number): readonly UnstableRecord[] {
  return Array.from({ length: count }, (_, n) => {
    const random = randomAt(seed, n)
    return { key: `k${random.below(13)}`, n, isBad: random.below(50) === 0 }
  })
}

/** The numbers `n` by key, without duplicates, in order of first arrival. */
export function firstArrivals(accepted: readonly UnstableRecord[]): ReadonlyMap<string, readonly number[]> {
  const byKey = Map.groupBy(accepted, ({ key }) => key)
  return new Map([...byKey].map(([key, records]) => [key, [...new Set(records.map(({ n }) => n))]]))
}
