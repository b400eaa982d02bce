import { randomAt } from '../../src/java-compat/avro-random-generator/random.ts'
import { type Reply, type Seen, startHttpServer } from './http-server.ts'

/** What a record of `unstableRecords` says. */
export type UnstableServer = { readonly key: string; readonly n: number; readonly isBad: boolean }

const MOODS: readonly ((seen: Seen) => Reply | Promise<Reply>)[] = [
  () => ({ status: 200 }),
  () => ({ status: 200 }),
  () => ({ status: 200 }),
  () => ({ status: 429, headers: { 'retry-after': '0' } }),
  () => ({ status: 503, body: 'not now' }),
  () => 'cut',
  () => 'half',
  // A body that takes its time.
  () => new Promise((resolve) => setTimeout(() => resolve({ status: 200, body: 'x'.repeat(1000) }), 20)),
]

/**
 * A server that takes arrays of records, and answers 200, 429, 503, a cut connection, half an answer or a slow one at random,
 * by the seed. It refuses every array with a bad record in it. `taken` is what it said yes to, and what it
 * has taken when the connection broke off before it could say so.
 */
export async function startUnstableServer(seed: number) {
  const taken: UnstableServer[] = []
  let turn = 0
  const server = await startHttpServer(async (seen) => {
    const records = JSON.parse(seen.body) as readonly UnstableServer[]
    if (records.some(({ isBad }) => isBad)) return { status: 422, body: 'a record is bad' }
    const reply = await MOODS[randomAt(seed, turn++).below(MOODS.length)]!(seen)
    if (reply === 'half' || (typeof reply === 'object' && reply.status === 200)) taken.push(...records)
    return reply
  })
  return { ...server, taken }
}

/** Records of a few keys, in the order of their numbers; a few of them are bad. */
export function unstableRecords(seed: number, count: number): readonly UnstableServer[] {
  return Array.from({ length: count }, (_, n) => {
    const random = randomAt(seed, n)
    return { key: `k${random.below(13)}`, n, isBad: random.below(50) === 0 }
  })
}

/** The numbers of each key in the order in which they came first. */
export function firstTimes(taken: readonly UnstableServer[]): ReadonlyMap<string, readonly number[]> {
  const byKey = Map.groupBy(taken, ({ key }) => key)
  return new Map([...byKey].map(([key, records]) => [key, [...new Set(records.map(({ n }) => n))]]))
}
