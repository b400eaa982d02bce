import type { Broker, NewRecord } from '../../src/broker/broker.ts'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/config/logger.ts'

/** What a client is asked, as JSON in its only argument. `topic` has one partition. */
export type LogTask = {
  readonly address: BrokerAddress
  readonly topic: string
  readonly records: number
  readonly steps: readonly ('produce' | 'read')[]
}
/** What it prints: milliseconds of each step. */
export type LogTimes = { readonly produceMs?: number; readonly readMs?: number }

const VALUE_BYTES = 100
const BATCH = 5_000
/** Sends that wait for their answer at one time; the producer bounds the bytes itself. */
const SENDS = 4

/**
 * A process of its own for one measurement, as Java's tools are: what another measurement compiled or left in memory does
 * not help or hurt.
 */
const { address, topic, records, steps } = JSON.parse(process.argv[2]!) as LogTask
const broker = await openBroker(address, { logger: silentLogger() })
try {
  await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
  const times = {
    ...(steps.includes('produce') && { produceMs: await timed(() => produce(broker)) }),
    ...(steps.includes('read') && { readMs: await timed(() => read(broker)) }),
  }
  console.log(JSON.stringify(times satisfies LogTimes))
} finally {
  await broker.close()
}

async function produce(broker: Broker): Promise<void> {
  const producer = await broker.producer()
  let next = 0
  const sendAll = async () => {
    while (next < records) {
      const batch = newBatch(Math.min(BATCH, records - next))
      next += batch.length
      await producer.send(batch)
    }
  }
  await Promise.all(Array.from({ length: SENDS }, sendAll))
  await producer.close()
}

/** In a group from the topic's beginning, as Java's tool reads. */
async function read(broker: Broker): Promise<void> {
  const consumer = await broker.consumer({ groupId: `read-${topic}`, topics: [topic] })
  let seen = 0
  let bytes = 0
  while (seen < records) {
    for (const partition of await consumer.poll(1_000)) {
      seen += partition.records.length
      for (const record of partition.records) bytes += record.value?.length ?? 0
    }
  }
  if (bytes !== seen * VALUE_BYTES) throw new Error(`read ${bytes} bytes in ${seen} records`)
  await consumer.close()
}

/** Values lie one after the other in one piece of memory, as a source reads them. */
function newBatch(length: number): readonly NewRecord[] {
  const block = Buffer.alloc(length * VALUE_BYTES, 'x')
  return Array.from({ length }, (_, index) => {
    const value = block.subarray(index * VALUE_BYTES, (index + 1) * VALUE_BYTES)
    return { topic, key: null, value }
  })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}
