import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readAll } from '../contract/broker-support.ts'
import { describeOn, real } from '../env/real.ts'
import { type ReceivedRequest, startHttpServer } from '../support/http-server.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const RECORDS = 3_000
const PAGE = 50
const kafka = await real('kafka')

describeOn([kafka], 'HttpSource in a worker', () => {
  it('writes all records in order, and resumes from its offset when the worker is killed within a page', {
    timeout: 300_000,
  }, async () => {
    const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
    const broker = await openBroker(address, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    const topic = `paged-${crypto.randomUUID()}`
    await broker.topics.create({ name: topic, partitions: 1, replicationFactor: 1 })
    const list = Array.from({ length: RECORDS }, (_, n) => ({ n }))
    const killing = Promise.withResolvers<void>()
    let turn = 0
    const server = await startHttpServer(async (seen) => {
      const from = offsetOf(seen)
      if (from >= RECORDS / 3) await killing.promise
      turn += 1
      if (turn % 7 === 0) return { status: 503, headers: { 'retry-after': '0' } }
      return turn % 11 === 0 ? 'half' : { status: 200, body: JSON.stringify(list.slice(from, from + PAGE)) }
    })
    const options = {
      log: ['--bootstrap', kafka.address.bootstrap],
      groupId: topic,
      settings: { 'offset.flush.interval.ms': '200' },
    } as const
    const killed = await startWorkerProcess(options)
    onTestFinished(() => killed.kill())
    const client = createWorkerClient(killed)
    await client.create(topic, {
      'connector.class': 'HttpSource',
      topic,
      url: `${server.url}/items`,
      paging: 'offset',
      'poll.interval.ms': '50',
      'errors.retry.delay.max.ms': '20',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
    })
    const stored = async () => Number((await client.offsets(topic))[0]?.offset?.['page'] ?? 0)
    await until('a third of the list is on its way', WAIT, () =>
      server.seen.some((seen) => offsetOf(seen) >= RECORDS / 3),
    )
    await until('an offset is stored', WAIT, async () => (await stored()) > 0)
    const before = await stored()
    await killed.kill()
    const asked = server.seen.length
    killing.resolve()
    const worker = await startWorkerProcess(options)
    onTestFinished(() => worker.kill())

    const numbers = async () =>
      (await readAll(broker, topic)).map(({ value }) => (JSON.parse(String(value)) as { n: number }).n)
    await until('all of it', WAIT, async () => new Set(await numbers()).size === RECORDS)
    expect([...new Set(await numbers())]).toEqual(list.map(({ n }) => n))
    expect(offsetOf(server.seen[asked]!)).toBeGreaterThanOrEqual(before)
  })
})

function offsetOf({ path }: ReceivedRequest): number {
  return Number(/offset=(\d+)/.exec(path)?.[1] ?? 0)
}
