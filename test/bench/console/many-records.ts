import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { partDirectory } from '../../env/workspace.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const BATCH = 10_000

/** Starts a worker on an embedded broker with one topic of many records: what the page of records has to find its way through. */
export async function startManyRecords(topic: string, count: number) {
  const directory = partDirectory('console-records')
  const broker = await openBroker({ kind: 'embedded', directory }, { logger: silentLogger() })
  await broker.topics.create({ name: topic, partitions: 1 })
  const producer = await broker.producer()
  // Records that are older than the retention time would be deleted.
  const startMs = Date.now() - count
  for (let first = 0; first < count; first += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, at) => ({
      topic,
      partition: 0,
      key: Buffer.from(`key-${first + at}`),
      value: Buffer.from(JSON.stringify({ order: first + at, customer: `customer-${at % 40}`, note: 'x'.repeat(60) })),
      timestampMs: startMs + first + at,
    }))
    await producer.send(batch)
  }
  await producer.close()
  await broker.close()
  return startWorkerProcess({ log: ['--data', directory], groupId: 'weir' })
}
