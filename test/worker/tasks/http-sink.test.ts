import { describe, expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { SEED } from '../../support/property-seed.ts'
import { DEAD_LETTERS, startTask } from '../../support/task.ts'
import { openTestBroker, readRecords } from '../../support/topic.ts'
import {
  firstArrivals,
  startUnstableServer,
  type UnstableRecord,
  unstableRecords,
} from '../../support/unstable-server.ts'

const RECORDS = 600

describe('a task of HttpSink', () => {
  it('delivers records in order per key to an unstable server, writes exactly the rejected ones to the dead-letter topic, and reports each record', {
    tags: ['slow'],
  }, async () => {
    const broker = await openTestBroker('in')
    const records = unstableRecords(SEED, RECORDS)
    const producer = await broker.producer()
    await producer.send(
      records.map((record) => ({
        topic: 'in',
        key: Buffer.from(record.key),
        value: Buffer.from(JSON.stringify(record)),
      })),
    )
    await producer.close()
    const server = await startUnstableServer(SEED)
    const task = startTask(broker, httpSink, {
      topics: 'in',
      'http.api.url': server.url,
      'request.body.format': 'json',
      'batch.json.as.array': 'true',
      'batch.max.size': '10',
      'retry.backoff.ms': '2',
      'max.retries': '1000',
      'max.in.flight.requests': '3',
      'reporter.result.topic.replication.factor': '1',
      'reporter.error.topic.replication.factor': '1',
      ...DEAD_LETTERS,
    })
    await expect.poll(() => task.counters.recordsOut).toBe(RECORDS)
    await task.stop()
    const dead = (await readRecords(broker, 'dead')).map(({ value }) => (JSON.parse(String(value)) as UnstableRecord).n)
    expect(firstArrivals(server.accepted)).toEqual(firstArrivals(records.filter(({ isBad }) => !isBad)))
    expect(dead.toSorted((a, b) => a - b)).toEqual(records.filter(({ isBad }) => isBad).map(({ n }) => n))
    expect(await reportedOffsets(broker, 'success-responses')).toEqual(offsetsOf(records, (record) => !record.isBad))
    expect(await reportedOffsets(broker, 'error-responses')).toEqual(offsetsOf(records, (record) => record.isBad))
    expect(await broker.groups.offsets('connect-HttpSink')).toEqual([{ topic: 'in', partition: 0, offset: RECORDS }])
  })
})

type UnstableRecords = ReturnType<typeof unstableRecords>

/** In ascending order without duplicates. */
async function reportedOffsets(broker: Broker, topic: string): Promise<readonly number[]> {
  const offsets = (await readRecords(broker, topic)).map(({ headers }) => {
    const [, value] = headers.find(([name]) => name === 'input_record_offset') ?? []
    return Number(value)
  })
  return [...new Set(offsets)].toSorted((a, b) => a - b)
}

function offsetsOf(
  records: UnstableRecords,
  isWanted: (record: UnstableRecords[number]) => boolean,
): readonly number[] {
  return records.flatMap((record, offset) => (isWanted(record) ? [offset] : []))
}
