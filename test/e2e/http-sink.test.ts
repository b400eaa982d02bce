import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readAll } from '../contract/broker-support.ts'
import { describeOn, real } from '../env/real.ts'
import { SEED } from '../support/property-seed.ts'
import { firstArrivals, startUnstableServer, type UnstableRecord, unstableRecords } from '../support/unstable-server.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const RECORDS = 3_000
const kafka = await real('kafka')

describeOn([kafka], 'HttpSink in a worker', () => {
  it('delivers all records in order per key to a server that fails at random, while its worker is killed; rejected records become dead letters', {
    timeout: 300_000,
  }, async () => {
    const address = { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } } as const
    const broker = await openBroker(address, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    const topic = `unstable-${crypto.randomUUID()}`
    await broker.topics.create({ name: topic, partitions: 4, replicationFactor: 1 })
    const records = unstableRecords(SEED, RECORDS)
    const producer = await broker.producer()
    await producer.send(
      records.map((record) => ({ topic, key: Buffer.from(record.key), value: Buffer.from(JSON.stringify(record)) })),
    )
    await producer.close()
    const server = await startUnstableServer(SEED)
    const options = {
      log: ['--bootstrap', kafka.address.bootstrap],
      groupId: topic,
      settings: { 'offset.flush.interval.ms': '500' },
    } as const
    const killed = await startWorkerProcess(options)
    onTestFinished(() => killed.kill())
    await createWorkerClient(killed).create(topic, {
      'connector.class': 'io.confluent.connect.http.HttpSinkConnector',
      'tasks.max': '2',
      topics: topic,
      'http.api.url': `${server.url}/in`,
      'request.body.format': 'json',
      'batch.json.as.array': 'true',
      'batch.max.size': '20',
      'retry.backoff.ms': '5',
      'max.retries': '1000',
      'max.in.flight.requests': '4',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': `${topic}-dead`,
      'errors.deadletterqueue.topic.replication.factor': '1',
    })
    await until('a third of the records', WAIT, () => server.accepted.length > RECORDS / 3)
    await killed.kill()
    const worker = await startWorkerProcess(options)
    onTestFinished(() => worker.kill())

    const good = records.filter(({ isBad }) => !isBad)
    const bad = records.filter(({ isBad }) => isBad).map(({ n }) => n)
    const arrived = () => new Set(server.accepted.map(({ n }) => n)).size
    const dead = async () => {
      const letters = await readAll(broker, `${topic}-dead`).catch(() => [])
      return [...new Set(letters.map(({ value }) => (JSON.parse(String(value)) as UnstableRecord).n))].toSorted(
        (a, b) => a - b,
      )
    }
    await until('all of them', WAIT, async () => arrived() >= good.length && (await dead()).length >= bad.length)
    expect(firstArrivals(server.accepted)).toEqual(firstArrivals(good))
    expect(await dead()).toEqual(bad)
  })
})
