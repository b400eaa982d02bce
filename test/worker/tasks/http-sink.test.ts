import { describe, expect, it } from 'vitest'
import { httpSink } from '../../../src/plugins/connectors/http-sink/sink.ts'
import { SEED } from '../../support/property-seed.ts'
import { DEAD_LETTERS, startTask } from '../../support/task.ts'
import { openTestLog, readRecords } from '../../support/topic.ts'
import { firstTimes, startUnstableServer, type UnstableServer, unstableRecords } from '../../support/unstable-server.ts'

const RECORDS = 600

describe('a task of the HTTP sink', () => {
  it('brings each record to a moody server, in order per key, and exactly the refused ones to the dead letters', async () => {
    const broker = await openTestLog('in')
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
      ...DEAD_LETTERS,
    })
    await expect.poll(() => task.counters.recordsOut, { timeout: 20_000 }).toBe(RECORDS)
    await task.stop()
    const dead = (await readRecords(broker, 'dead')).map(({ value }) => (JSON.parse(String(value)) as UnstableServer).n)
    expect(firstTimes(server.taken)).toEqual(firstTimes(records.filter(({ isBad }) => !isBad)))
    expect(dead.toSorted((a, b) => a - b)).toEqual(records.filter(({ isBad }) => isBad).map(({ n }) => n))
    expect(await broker.groups.offsets('connect-HttpSink')).toEqual([{ topic: 'in', partition: 0, offset: RECORDS }])
  })
})
