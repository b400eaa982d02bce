import { expect, it } from 'vitest'
import type { Broker, Compression } from '../../src/broker/broker.ts'
import { openKafkaBackend } from '../../src/broker/kafka/kafka-backend.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { ATTRIBUTES_AT, batchesOf, COMPRESSION_MASK } from '../../src/broker/record-batch/batch-header.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { kafkaTool } from '../env/kafka.ts'
import { describeOn, real } from '../env/real.ts'
import { newTopic, opened, readAll, records, uniqueName } from './broker-support.ts'

const CODECS: readonly Compression[] = ['gzip', 'snappy', 'lz4', 'zstd']
/** The frames of Snappy and LZ4 have 32 and 64 KiB; batches must be larger. */
const RECORDS = 500
const RECORD_BYTES = 400
const BATCH_BYTES = 131_072

const kafka = await real('kafka')
const config = () => ({ 'bootstrap.servers': kafka.address.bootstrap })

/** Kafka stores batches unchanged, so one client must be able to read what the other has compressed. */
describeOn([kafka], 'compression between Java and Weir', () => {
  it.each(CODECS)('Weir reads records that Java compressed with %s', async (codec) => {
    const broker = await opened(open)
    const topic = await newTopic(broker)
    const produced = await kafkaTool('ProducerPerformance', [
      ...['--topic', topic, '--num-records', String(RECORDS), '--record-size', String(RECORD_BYTES)],
      ...['--throughput', '-1', '--producer-props', `bootstrap.servers=${kafka.address.bootstrap}`],
      ...[`compression.type=${codec}`, `batch.size=${BATCH_BYTES}`, 'linger.ms=1000'],
    ])
    expect(produced, produced.stderr).toMatchObject({ code: 0 })
    expect(await codecsOf(topic)).toEqual(new Set([CODECS.indexOf(codec) + 1]))
    const values = (await readAll(broker, topic)).map(({ value }) => String(value))
    expect(values).toHaveLength(RECORDS)
    // The tool generates capital letters.
    expect(values.filter((value) => !new RegExp(`^[A-Z]{${RECORD_BYTES}}$`).test(value))).toEqual([])
  })

  it('Java reads records that Weir compressed with any codec', async () => {
    const broker = await opened(open)
    const prefix = uniqueName('codec')
    const written: string[] = []
    for (const compression of CODECS) {
      const topic = await newTopic(broker, { name: `${prefix}.${compression}` })
      const values = Array.from({ length: RECORDS }, (_, at) => `${compression} ${at} ${'filler '.repeat(50)}`)
      await (await broker.producer({ compression })).send(records(topic, values))
      expect(await codecsOf(topic)).toEqual(new Set([CODECS.indexOf(compression) + 1]))
      written.push(...values)
    }
    const consumed = await kafkaTool('consumer.ConsoleConsumer', [
      ...['--bootstrap-server', kafka.address.bootstrap, '--include', `${prefix}\\..*`, '--from-beginning'],
      ...['--max-messages', String(written.length), '--timeout-ms', '60000'],
    ])
    const lines = consumed.stdout.split('\n').filter((line) => line !== '')
    expect(lines.toSorted()).toEqual(written.toSorted())
  })
})

function open(): Promise<Broker> {
  return openBroker({ kind: 'kafka', config: config() }, { logger: silentLogger() })
}

/** Ids of the codecs of the topic's stored batches. */
async function codecsOf(topic: string): Promise<ReadonlySet<number>> {
  const backend = await openKafkaBackend(config(), { logger: silentLogger() })
  try {
    const [found] = await backend.metadata({ topics: [topic] })
    const [answer] = await backend.fetch({
      node: found!.partitions[0]!.leader,
      partitions: [{ topic, partition: 0, offset: 0 }],
      waitMsMax: 1_000,
      bytesMin: 1,
      bytesMax: 8_000_000,
      isolation: 'read_committed',
    })
    return new Set(
      [...batchesOf(answer!.bytes)].map(({ bytes }) => bytes.readInt16BE(ATTRIBUTES_AT) & COMPRESSION_MASK),
    )
  } finally {
    await backend.close()
  }
}
