import type { Broker, PartitionOffset, StoredRecord } from '../../src/broker/broker.ts'
import type { BrokerAddress } from '../../src/broker/broker-address.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { whenTestEnds } from './concurrent-tests.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** Reads all records of partition 0. */
export async function readRecords(broker: Broker, topic: string): Promise<readonly StoredRecord[]> {
  const [first] = await broker.topics.offsets(topic, 'latest')
  return readUntil(broker, topic, [first!])
}

/** Reads the last value of each key, from all partitions. */
export async function readLatestValues(broker: Broker, topic: string): Promise<ReadonlyMap<string, Buffer | null>> {
  const records = await readUntil(broker, topic, await broker.topics.offsets(topic, 'latest'))
  return new Map(records.map(({ key, value }) => [String(key), value]))
}

/** Reads the records of these partitions before these offsets. */
async function readUntil(broker: Broker, topic: string, ends: readonly PartitionOffset[]): Promise<StoredRecord[]> {
  const reader = broker.reader()
  reader.seek(ends.map(({ partition }) => ({ topic, partition, offset: 0 })))
  const remaining = new Map(ends.filter(({ offset }) => offset > 0).map(({ partition, offset }) => [partition, offset]))
  const records: StoredRecord[] = []
  while (remaining.size > 0) {
    for (const { partition, records: polled, nextOffset } of await reader.poll(1_000)) {
      for (const record of polled) records.push(record)
      if (nextOffset >= (remaining.get(partition) ?? 0)) remaining.delete(partition)
    }
  }
  return records
}

/** Opens a broker that an `await using` declaration closes at the end of its block. */
export async function openDisposableBroker(address: BrokerAddress): Promise<Broker & AsyncDisposable> {
  const broker = await openBroker(address, { logger: silentLogger() })
  return Object.assign(broker, { [Symbol.asyncDispose]: () => broker.close() })
}

/** Opens an embedded broker with these topics of one partition. It is closed at the end of the test. */
export async function openTestBroker(...topics: readonly string[]): Promise<Broker> {
  const broker = await openBroker({ kind: 'embedded', directory: temporaryDirectory() }, { logger: silentLogger() })
  whenTestEnds(() => broker.close())
  for (const name of topics) await broker.topics.create({ name, partitions: 1 })
  return broker
}

/** Produces text records without keys. */
export async function produceTexts(broker: Broker, topic: string, ...values: readonly string[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(values.map((value) => ({ topic, key: null, value: Buffer.from(value) })))
  await producer.close()
}
