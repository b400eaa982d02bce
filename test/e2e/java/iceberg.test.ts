import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { run } from '../../env/process.ts'
import { describeOn, real } from '../../env/real.ts'
import { killJavaHost, startJavaWorker } from '../../support/java-plugins.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WAIT } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const iceberg = await real('iceberg')
const pyiceberg = await real('pyiceberg')

const READER = join(import.meta.dirname, '../../support/read-iceberg-table.py')
const PARTITIONS = 2

type Event = { readonly id: number; readonly type: string; readonly payload: string; readonly price: number }
const eventOf = (id: number): Event => ({ id, type: `type-${id % 3}`, payload: `payload ${id}`, price: id + 0.5 })

async function produce(broker: Broker, topic: string, from: number, to: number): Promise<void> {
  const producer = await broker.producer()
  const events = Array.from({ length: to - from }, (_, at) => eventOf(from + at))
  await producer.send(
    events.map((event) => ({
      topic,
      partition: event.id % PARTITIONS,
      key: null,
      value: Buffer.from(JSON.stringify(event)),
    })),
  )
  await producer.close()
}

/** A table in a Hadoop catalog, whose files are below one directory. */
class IcebergTable {
  readonly #directory: string

  constructor(warehouse: string, namespace: string, name: string) {
    this.#directory = join(warehouse, namespace, name, 'metadata')
  }

  /** The number of rows in the current snapshot, according to its summary. */
  countRows(): number {
    if (!existsSync(join(this.#directory, 'version-hint.text'))) return 0
    const metadata = JSON.parse(readFileSync(this.#metadataFile(), 'utf8'))
    const current = metadata.snapshots?.find(
      (one: { 'snapshot-id': number }) => one['snapshot-id'] === metadata['current-snapshot-id'],
    )
    return Number(current?.summary['total-records'] ?? 0)
  }

  /** Reads the table with PyIceberg and Arrow. */
  async readRows(): Promise<readonly Event[]> {
    const env = { PYTHONPATH: pyiceberg.address.packages }
    const args = [READER, this.#metadataFile()]
    const { code, stdout, stderr } = await run({ file: 'python3', args, directory: '.', env })
    if (code !== 0) throw new Error(`PyIceberg cannot read the table:\n${stderr}`)
    return JSON.parse(stdout)
  }

  #metadataFile(): string {
    const version = readFileSync(join(this.#directory, 'version-hint.text'), 'utf8').trim()
    return join(this.#directory, `v${version}.metadata.json`)
  }
}

describeOn([kafka, javaHost, iceberg, pyiceberg], "Apache Iceberg's sink on a worker", () => {
  it('writes each record once, when its JVM is killed and when the worker is restarted', async () => {
    const { bootstrap } = kafka.address
    const { group, worker } = await startJavaWorker({
      bootstrap,
      hostDirectory: javaHost.address.directory,
      plugins: iceberg.address,
      settings: { 'java.host.heap.max': '512m', 'plugin.discovery': 'service_load' },
    })
    await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    const topic = `${group.id}-events`
    const controlTopic = `${group.id}-control`
    await broker.topics.create({ name: topic, partitions: PARTITIONS })
    await broker.topics.create({ name: controlTopic, partitions: 1 })
    const warehouse = temporaryDirectory()
    const name = `${group.id}-iceberg`
    const config = {
      'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
      'tasks.max': '2',
      topics: topic,
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'iceberg.tables': 'default.events',
      'iceberg.tables.auto-create-enabled': 'true',
      'iceberg.catalog.type': 'hadoop',
      'iceberg.catalog.warehouse': `file://${warehouse}`,
      'iceberg.control.topic': controlTopic,
      'iceberg.control.commit.interval-ms': '1000',
      'iceberg.kafka.bootstrap.servers': bootstrap,
      // How long the coordinator of a killed JVM stays a member of its control group.
      'iceberg.kafka.session.timeout.ms': '3000',
      'iceberg.kafka.heartbeat.interval.ms': '500',
    }
    const table = new IcebergTable(warehouse, 'default', 'events')
    const untilWritten = (count: number) => until(`${count} rows`, WAIT, () => table.countRows() >= count)
    const expectRows = async (count: number) => {
      const rows = await table.readRows()
      expect(rows.toSorted((one, other) => one.id - other.id)).toEqual(
        Array.from({ length: count }, (_, id) => eventOf(id)),
      )
    }

    await produce(broker, topic, 0, 500)
    await clientOf(worker).create(name, config)
    await untilWritten(500)
    await expectRows(500)

    for (let at = 5; at < 15; at++) {
      await produce(broker, topic, at * 100, (at + 1) * 100)
      if (at === 10) killJavaHost(worker.pid!, 'iceberg')
    }
    await untilWritten(1_500)
    await expectRows(1_500)
    // The sink commits them in its transactions, as a member of the connector's group.
    expect(await broker.groups.offsets(`connect-${name}`)).toEqual(
      expect.arrayContaining([0, 1].map((partition) => expect.objectContaining({ topic, partition, offset: 750 }))),
    )

    await worker.stop()
    group.forget(worker)
    await produce(broker, topic, 1_500, 1_600)
    const client = clientOf(await group.startOne())
    await untilWritten(1_600)
    await expectRows(1_600)

    const { 'iceberg.tables': _, ...incomplete } = config
    await client.create('incomplete', incomplete)
    await until('the failure', WAIT, async () => {
      const status = await client.status('incomplete').catch(() => undefined)
      return status?.tasks[0]?.state === 'FAILED'
    })
    expect((await client.status('incomplete')).tasks[0]?.trace).toContain('Must specify table name(s)')
  })
})
