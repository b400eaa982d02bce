import { parentPort, workerData } from 'node:worker_threads'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'

const { address, topic } = workerData as { address: BrokerAddress; topic: string }
const broker = await openBroker(address, { logger: silentLogger() })
const producer = await broker.producer()
await producer.send([{ topic, key: null, value: Buffer.from('from the thread') }])
const reader = broker.reader()
reader.seek([{ topic, partition: 0, offset: 0 }])
const read: string[] = []
while (read.length === 0) {
  for (const { records } of await reader.poll(1_000)) read.push(...records.map(({ value }) => String(value)))
}
await broker.close()
parentPort?.postMessage(read)
