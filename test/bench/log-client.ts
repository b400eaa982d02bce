import type { Broker, Compression, NewRecord } from '../../src/broker/broker.ts'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'

/** The task of a client, passed as JSON in its only argument. `topic` has one partition. */
export type LogTask = {
  readonly address: BrokerAddress
  readonly topic: string
  readonly records: number
  /** Default: none. */
  readonly compression?: Compression | undefined
  /** Default: 1. */
  readonly replicas?: number
  readonly steps: readonly ('produce' | 'read')[]
}
/** The output of a client: the duration of each step. */
export type LogTimes = { readonly produceMs?: number; readonly readMs?: number }

const VALUE_BYTES = 100
const BATCH = 5_000
/** Number of concurrent sends. The producer limits the bytes in flight. */
const SENDS = 4

/**
 * Runs one measurement in a separate process, like Java's tools, so that JIT-compiled code and garbage of other
 * measurements do not affect it.
 */
const { address, topic, records, compression, replicas = 1, steps } = JSON.parse(process.argv[2]!) as LogTask
const broker = await openBroker(address, { logger: silentLogger() })
try {
  await broker.topics.create({ name: topic, partitions: 1, replicationFactor: replicas })
  const times = {
    ...(steps.includes('produce') && { produceMs: await timed(() => produce(broker)) }),
    ...(steps.includes('read') && { readMs: await timed(() => read(broker)) }),
  }
  console.log(JSON.stringify(times satisfies LogTimes))
} finally {
  await broker.close()
}

async function produce(broker: Broker): Promise<void> {
  const producer = await broker.producer(compression && { compression })
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

/** Reads the topic from the beginning with a consumer group, as Java's tool does. */
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

/** Creates a batch whose values are slices of one buffer, as those of a source connector often are. */
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
