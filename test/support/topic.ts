import type { Broker, StoredRecord } from '../../src/broker/broker.ts'
import type { BrokerAddress } from '../../src/broker/home.ts'
import { openBroker } from '../../src/broker/open.ts'
import { silentLogger } from '../../src/config/logger.ts'

/** All records of a topic's first partition. */
export async function readRecords(broker: Broker, topic: string): Promise<readonly StoredRecord[]> {
  const [end] = await broker.topics.offsets(topic, 'latest')
  const reader = broker.reader()
  reader.seek([{ topic, partition: 0, offset: 0 }])
  const records: StoredRecord[] = []
  for (let next = 0; next < end!.offset; ) {
    for (const polled of await reader.poll(1_000)) {
      for (const record of polled.records) records.push(record)
      next = polled.nextOffset
    }
  }
  return records
}

/** A broker for the end of its block. */
export async function openLog(address: BrokerAddress): Promise<Broker & AsyncDisposable> {
  const broker = await openBroker(address, { logger: silentLogger() })
  return Object.assign(broker, { [Symbol.asyncDispose]: () => broker.close() })
}
