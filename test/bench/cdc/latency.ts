import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import { until } from '../../support/until.ts'
import type { Side } from '../worker/sides.ts'
import { JSON_WITH_SCHEMAS } from './converters.ts'
import type { SourceDatabase } from './source-database.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const CHANGES_PER_SECOND = 1_000
const TRANSACTION_ROWS = 10
const EVERY_MS = (1_000 * TRANSACTION_ROWS) / CHANGES_PER_SECOND
/** Just-in-time compilation of both sides is over then. */
const WARM_UP_MS = 15_000
const MEASURED_MS = 20_000
const TRANSACTIONS = (WARM_UP_MS + MEASURED_MS) / EVERY_MS
const WARM_UP_TRANSACTIONS = WARM_UP_MS / EVERY_MS
/** Shorter than the default of half a second, for which Debezium waits. */
const POLL_INTERVAL_MS = '10'

export type Latency = { readonly p50Ms: number; readonly p99Ms: number }

/**
 * Measures the time from a commit to its record in the topic. Both connectors read the same changes at the same time, so that a stall
 * of the broker, the server or the machine affects both.
 */
export async function measureLatency(
  sides: readonly Side[],
  database: SourceDatabase,
  broker: Broker,
): Promise<readonly Latency[]> {
  await using workers = new AsyncDisposableStack()
  await database.client.query('TRUNCATE changed')
  const arrivals: Arrivals[] = []
  for (const side of sides) {
    const id = `${side.name}_latency_${Math.round(performance.now())}`
    const topic = `${id}.public.changed`
    await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
    const worker = workers.adopt(await side.start({}), ({ stop }) => stop())
    const config = {
      'snapshot.mode': 'no_data',
      'key.converter.schemas.enable': 'false',
      'poll.interval.ms': POLL_INTERVAL_MS,
    }
    await createWorkerClient({ url: worker.url }).create(id, {
      ...database.config(id, 'changed', JSON_WITH_SCHEMAS),
      ...config,
    })
    await database.untilStreaming(id)
    arrivals.push(workers.use(new Arrivals(broker, topic)))
  }
  const committedMs = await commitSteadily(database)
  const last = TRANSACTIONS * TRANSACTION_ROWS
  await until('all records', WAIT, () => arrivals.every(({ atMs }) => atMs[last] !== undefined))
  return arrivals.map(({ atMs }) => {
    const first = WARM_UP_TRANSACTIONS * TRANSACTION_ROWS
    const times = committedMs.flatMap((ms, id) => (id > first ? [atMs[id]! - ms] : [])).toSorted((a, b) => a - b)
    const quantile = (part: number) => Math.max(0, times[Math.floor((times.length - 1) * part)]!)
    return { p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
  })
}

/** The times at which the records of a topic were read, by the id of their row. */
class Arrivals implements AsyncDisposable {
  readonly atMs: number[] = []
  readonly #reading: Promise<void>
  #isOver = false

  constructor(broker: Broker, topic: string) {
    this.#reading = this.#read(broker, topic)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#reading
  }

  async #read(broker: Broker, topic: string): Promise<void> {
    const reader = broker.reader()
    reader.seek([{ topic, partition: 0, offset: 0 }])
    while (!this.#isOver) {
      const polled = await reader.poll(500)
      const nowMs = performance.now()
      for (const { key } of polled.flatMap(({ records }) => records)) {
        this.atMs[Number((JSON.parse(String(key)) as { id: number }).id)] = nowMs
      }
    }
    await reader.close()
  }
}

/** Commits transactions at a constant rate. Returns the time of the commit of each row, by its id. */
async function commitSteadily({ client }: SourceDatabase): Promise<readonly number[]> {
  const committedMs: number[] = []
  const startMs = performance.now()
  for (let at = 0; at < TRANSACTIONS; at++) {
    await sleep(Math.max(0, startMs + at * EVERY_MS - performance.now()))
    const [first, last] = [at * TRANSACTION_ROWS + 1, (at + 1) * TRANSACTION_ROWS]
    await client.query(`INSERT INTO changed SELECT n, 'word', 1, now() FROM generate_series(${first}, ${last}) n`)
    const nowMs = performance.now()
    for (let id = first; id <= last; id++) committedMs[id] = nowMs
  }
  return committedMs
}
