import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'

export type ReadTask = { readonly bootstrap: string; readonly topic: string; readonly records: number }
export type ReadResult = { readonly bytes: number }

/** Reads a complete topic through the broker port and discards the records. */
const { bootstrap, topic, records } = JSON.parse(process.argv[2]!) as ReadTask
const address = { kind: 'kafka' as const, config: { 'bootstrap.servers': bootstrap } }
const broker = await openBroker(address, { logger: silentLogger() })
try {
  const [end] = await broker.topics.offsets(topic, 'latest')
  const reader = broker.reader()
  reader.seek(await broker.topics.offsets(topic, 'earliest'))
  let seen = 0
  let bytes = 0
  for (let next = 0; next < end!.offset; ) {
    for (const partition of await reader.poll(1_000)) {
      seen += partition.records.length
      for (const record of partition.records) bytes += record.value?.length ?? 0
      next = partition.nextOffset
    }
  }
  await reader.close()
  if (seen < records) throw new Error(`${topic} gave ${seen} records of ${records}`)
  console.log(JSON.stringify({ bytes } satisfies ReadResult))
} finally {
  await broker.close()
}
