import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import { type Kafka, startKafka } from '../../env/kafka.ts'
import { describeOn, real } from '../../env/real.ts'
import { killJavaHost, startJavaWorker } from '../../support/java-plugins.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WAIT } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const mirrorMaker = await real('mirrorMaker')

const SOURCE = 'org.apache.kafka.connect.mirror.MirrorSourceConnector'
const CHECKPOINT = 'org.apache.kafka.connect.mirror.MirrorCheckpointConnector'
const HEARTBEAT = 'org.apache.kafka.connect.mirror.MirrorHeartbeatConnector'
const BYTES = {
  'key.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
  'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
  'header.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter',
}
const PARTITIONS = 3

/** Two clusters, and a worker with MirrorMaker on the second one. */
async function startMirror() {
  const source: Kafka = await startKafka()
  onTestFinished(() => source.stop())
  const target = kafka.address.bootstrap
  const { group, worker } = await startJavaWorker({
    bootstrap: target,
    hostDirectory: javaHost.address.directory,
    plugins: mirrorMaker.address,
  })
  // Unique, because other tests use the target cluster, too.
  const alias = `east-${randomUUID().slice(0, 8)}`
  const shared = {
    ...BYTES,
    'source.cluster.alias': alias,
    'target.cluster.alias': 'west',
    'source.cluster.bootstrap.servers': source.bootstrap,
    'target.cluster.bootstrap.servers': target,
    'tasks.max': '2',
    'replication.factor': '1',
    'offset-syncs.topic.replication.factor': '1',
    'checkpoints.topic.replication.factor': '1',
    'heartbeats.topic.replication.factor': '1',
    'refresh.topics.interval.seconds': '1',
    'refresh.groups.interval.seconds': '1',
    'sync.topic.configs.interval.seconds': '1',
    'sync.topic.acls.enabled': 'false',
    'emit.checkpoints.interval.seconds': '1',
    'emit.heartbeats.interval.seconds': '1',
    'sync.group.offsets.enabled': 'true',
    'sync.group.offsets.interval.seconds': '1',
    'offset.lag.max': '0',
  }
  return { source, target, group, worker, alias, shared }
}

/** Older records would be deleted by `retention.ms`, which brokers check for the first time 30 s after their start. */
const FIRST_MS = Date.now() - 3_600_000

function numbered(topic: string, from: number, to: number): readonly NewRecord[] {
  return Array.from({ length: to - from }, (_, at) => ({
    topic,
    partition: (from + at) % PARTITIONS,
    key: Buffer.from(`key-${from + at}`),
    value: (from + at) % 10 === 9 ? null : Buffer.from(`value-${from + at}`),
    headers: [['number', Buffer.from(String(from + at))] as const],
    timestampMs: FIRST_MS + from + at,
  }))
}

async function produce(broker: Broker, records: readonly NewRecord[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(records)
  await producer.close()
}

/** The records of a topic, by partition, without their offsets. */
async function readAll(broker: Broker, topic: string): Promise<readonly string[][]> {
  const ends = await broker.topics.offsets(topic, 'latest')
  const reader = broker.reader()
  reader.seek(ends.map(({ partition }) => ({ topic, partition, offset: 0 })))
  const found: string[][] = ends.map(() => [])
  const next = ends.map(() => 0)
  while (ends.some(({ partition, offset }) => next[partition]! < offset)) {
    for (const { partition, records, nextOffset } of await reader.poll(1_000)) {
      next[partition] = nextOffset
      for (const { key, value, timestampMs, headers } of records) {
        const texts = headers.map(([name, header]) => `${name}=${Buffer.from(header ?? []).toString()}`)
        found[partition]!.push([key, value, timestampMs, ...texts].map(String).join(' '))
      }
    }
  }
  await reader.close()
  return found
}

const countOf = async (broker: Broker, topic: string) => {
  const ends = await broker.topics.offsets(topic, 'latest').catch(() => [])
  return ends.reduce((total, { offset }) => total + offset, 0)
}

/** Whether every record of the source is in the replica, in the order of its partition. The replica may repeat some. */
function isComplete(source: readonly string[][], replica: readonly string[][]): boolean {
  return source.every((records, at) => records.join('\n') === [...new Set(replica[at])].join('\n'))
}

const open = (bootstrap: string) => openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })

describeOn([kafka, javaHost, mirrorMaker], 'MirrorMaker 2 on a worker', () => {
  it('replicates topics, their configurations and the offsets of groups, and writes heartbeats', async () => {
    const { source, target, worker, alias, shared } = await startMirror()
    await using east = await open(source.bootstrap)
    await using west = await open(target)
    const client = clientOf(worker)
    const listed = (name: string) => expect.objectContaining({ class: name, type: 'source', version: '4.3.1' })
    expect(await client.plugins()).toEqual(expect.arrayContaining([SOURCE, CHECKPOINT, HEARTBEAT].map(listed)))

    const retention = { 'retention.ms': '7200000' }
    await east.topics.create({ name: 'orders', partitions: PARTITIONS, configs: retention })
    await produce(east, numbered('orders', 0, 3_000))
    const group = `billing-${alias}`
    await east.groups.setOffsets(group, [
      { topic: 'orders', partition: 0, offset: 1_000 },
      { topic: 'orders', partition: 1, offset: 400 },
    ])
    await client.create('mirror', { ...shared, 'connector.class': SOURCE, topics: 'orders,later' })
    await client.create('checkpoints', { ...shared, 'connector.class': CHECKPOINT, groups: group })
    await client.create('heartbeats', { ...shared, 'connector.class': HEARTBEAT })

    const replica = `${alias}.orders`
    await until('the replica', WAIT, async () => (await countOf(west, replica)) >= 3_000)
    expect(await readAll(west, replica)).toEqual(await readAll(east, 'orders'))
    await until('the configuration', WAIT, async () => {
      const configs = await west.topics.configs(replica)
      return configs['retention.ms'] === retention['retention.ms']
    })
    await until('the offset', WAIT, async () => {
      const offsets = await client.offsets('mirror')
      return offsets.filter(({ offset }) => offset?.['offset'] === 999).length === PARTITIONS
    })
    expect(await client.offsets('mirror')).toContainEqual({
      partition: { cluster: alias, partition: 0, topic: 'orders' },
      offset: { offset: 999 },
    })

    // The end of a partition is translated exactly, an offset before it to one that repeats records.
    const translated = async (partition: number) =>
      (await west.groups.offsets(group)).find((one) => one.topic === replica && one.partition === partition)?.offset
    await until('the offset of the group', WAIT, async () => (await translated(0)) === 1_000)
    expect(await translated(1)).toSatisfy((offset: number) => offset > 0 && offset <= 400)
    await until('heartbeats', WAIT, async () => (await countOf(west, 'heartbeats')) >= 2)
    const [beat] = (await readAll(west, 'heartbeats')).flat()
    expect(beat).toContain(alias)

    // A topic that appears later: the connector requests new task configurations.
    await east.topics.create({ name: 'later', partitions: PARTITIONS })
    await produce(east, numbered('later', 0, 30))
    await until('the later topic', WAIT, async () => (await countOf(west, `${alias}.later`)) === 30)
    expect(await readAll(west, `${alias}.later`)).toEqual(await readAll(east, 'later'))
  })

  it('loses nothing when its JVM is killed, and repeats nothing after a restart of the worker', async () => {
    const { source, target, group, worker, alias, shared } = await startMirror()
    await using east = await open(source.bootstrap)
    await using west = await open(target)
    await east.topics.create({ name: 'orders', partitions: PARTITIONS })
    const replica = `${alias}.orders`
    await clientOf(worker).create('mirror', { ...shared, 'connector.class': SOURCE, topics: 'orders' })
    const untilComplete = () =>
      until('the replica', WAIT, async () => {
        if ((await countOf(west, replica)) < (await countOf(east, 'orders'))) return false
        return isComplete(await readAll(east, 'orders'), await readAll(west, replica))
      })

    for (let at = 0; at < 10; at++) {
      await produce(east, numbered('orders', at * 600, (at + 1) * 600))
      if (at === 5) {
        await until('some of the replica', WAIT, async () => (await countOf(west, replica)) > 0)
        killJavaHost(worker.pid!, 'connect-mirror')
      }
    }
    await untilComplete()

    await worker.stop()
    group.forget(worker)
    const before = await countOf(west, replica)
    await produce(east, numbered('orders', 6_000, 6_300))
    const next = await group.startOne()
    await untilComplete()
    expect(await countOf(west, replica)).toBe(before + 300)

    // What is wrong is reported where Kafka Connect reports it, and the other connector continues.
    const client = clientOf(next)
    const { 'source.cluster.alias': _, ...incomplete } = { ...shared, 'connector.class': SOURCE }
    await expect(client.create('incomplete', incomplete)).rejects.toThrow(
      'Missing required configuration "source.cluster.alias" which has no default value.',
    )
    await client.create('lost', { ...shared, 'connector.class': SOURCE, 'source.cluster.bootstrap.servers': 'nowhere' })
    await until(
      'the failure',
      WAIT,
      async () => (await client.status('lost').catch(() => undefined))?.connector.state === 'FAILED',
    )
    expect((await client.status('lost')).connector.trace).toMatch(/Invalid url in bootstrap.servers: nowhere/)
    await produce(east, numbered('orders', 6_300, 6_330))
    await untilComplete()

    await client.stop('mirror')
    await expect(
      client.alterOffsets('mirror', [{ partition: { topic: 'orders' }, offset: { offset: 1 } }]),
    ).rejects.toThrow(/partition/)
  })
})
