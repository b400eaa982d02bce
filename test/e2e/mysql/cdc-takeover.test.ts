import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { createWorkerClient, type WorkerClient } from '../../../src/clients/worker-client.ts'
import { startJavaConnect } from '../../env/java-connect.ts'
import { describeOn, real } from '../../env/real.ts'
import { createJavaClient } from '../../support/java-requests.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'
import { mariadbConnector } from '../../support/mysql-side-by-side.ts'
import { openDisposableBroker, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const java = await real('javaConnect')
const debezium = await real('debezium')
const mariadb = await real('mariadb')

const SETTINGS = { 'offset.flush.interval.ms': '500' }
const WAIT = { everyMs: 100, timeoutMs: 180_000 }

describeOn([kafka, java, debezium, mariadb], 'MariadbCdcSource', () => {
  it('takes over the offsets and the schema history of Debezium, and hands them back', {
    timeout: 600_000,
  }, async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const { bootstrap } = kafka.address
    await database.run('CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20))', "INSERT INTO t VALUES (1, 'one')")
    const connect = await startJavaConnect({
      bootstrap,
      groupId: `debezium-${randomUUID()}`,
      properties: SETTINGS,
      plugins: { 'debezium-connector-mariadb': debezium.address.mariadb },
    })
    onTestFinished(() => connect.stop())
    const weir = await new WorkerGroup(bootstrap, SETTINGS).startOne()
    const theirs = createJavaClient(connect.url)
    const ours = createWorkerClient({ url: weir.url, timeoutMs: 60_000 })
    const broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    onTestFinished(() => broker.close())
    const name = `moved_${randomUUID().slice(0, 8)}`
    const config = mariadbConnector({ bootstrap, mariadb: mariadb.address, database }, { prefix: name, serverId: 7100 })
    const topic = `${name}.${database.name}.t`
    /** Undefined while nobody has written it, such as for a moment after the creation. */
    const statusOf = (client: WorkerClient) => client.status(name).catch(() => undefined)
    const untilCount = (client: WorkerClient, count: number) =>
      until(`${count} records of ${topic}`, WAIT, async () => {
        const failed = (await statusOf(client))?.tasks.find(({ state }) => state === 'FAILED')
        if (failed !== undefined) throw new Error(failed.trace)
        if ((await broker.topics.describe(topic)) === undefined) return false
        return (await broker.topics.offsets(topic, 'latest'))[0]!.offset >= count
      })
    const stop = async (client: WorkerClient) => {
      await client.stop(name)
      await until(`${name} to stop`, WAIT, async () => (await statusOf(client))?.tasks.length === 0)
      return client.offsets(name)
    }
    /** Starts the connector of a worker at the offsets of another one. */
    const startAt = async (client: WorkerClient, offsets: Awaited<ReturnType<WorkerClient['offsets']>>) => {
      if ((await statusOf(client)) === undefined) {
        await client.create(name, config, 'STOPPED')
      }
      await stop(client)
      await client.alterOffsets(name, offsets)
      await client.resume(name)
    }
    await theirs.create(name, config)
    await untilCount(theirs, 1)
    await database.run('ALTER TABLE t ADD COLUMN n INT', "INSERT INTO t VALUES (2, 'two', 2)")
    await untilCount(theirs, 2)
    const first = await stop(theirs)
    await database.run(
      "INSERT INTO t VALUES (3, 'three', 3)",
      'ALTER TABLE t DROP COLUMN word',
      'INSERT INTO t VALUES (4, 4)',
    )
    await startAt(ours, first)
    await untilCount(ours, 4)
    const second = await stop(ours)
    await database.run(
      'INSERT INTO t VALUES (5, 5)',
      'ALTER TABLE t ADD COLUMN x INT FIRST',
      'INSERT INTO t VALUES (6, 6, 6)',
    )
    await startAt(theirs, second)
    await untilCount(theirs, 6)
    const third = await stop(theirs)
    await database.run('INSERT INTO t VALUES (7, 7, 7)')
    await startAt(ours, third)
    await untilCount(ours, 7)
    const rows = (await readRecords(broker, topic)).map(
      ({ value }) => (JSON.parse(Buffer.from(value!).toString()) as { payload: { after: object } }).payload.after,
    )
    expect(rows).toEqual([
      { id: 1, word: 'one' },
      { id: 2, word: 'two', n: 2 },
      { id: 3, word: 'three', n: 3 },
      { id: 4, n: 4 },
      { id: 5, n: 5 },
      { x: 6, id: 6, n: 6 },
      { x: 7, id: 7, n: 7 },
    ])
  })
})
