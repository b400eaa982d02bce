import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { runMariadb } from '../../env/mariadb.ts'
import { describeOn, real } from '../../env/real.ts'
import { debeziumSettings, killJvm, parseJson, readTopic, untilOn } from '../../support/debezium.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const debezium = await real('debezium')
const mariadb = await real('mariadb')

const SOURCE = 'io.debezium.connector.mariadb.MariaDbConnector'

describeOn([kafka, javaHost, debezium, mariadb], 'Debezium MariaDB', () => {
  it('writes rows after each change, and continues with the schema history in Kafka when its JVM was killed', {
    timeout: 300_000,
  }, async () => {
    const { bootstrap } = kafka.address
    const database = `test_${randomUUID().replaceAll('-', '')}`
    const run = (sql: string) => runMariadb(mariadb.address, sql)
    await run(`CREATE DATABASE ${database}; CREATE TABLE ${database}.orders (
      id bigint unsigned PRIMARY KEY, item varchar(20) NOT NULL, price decimal(10, 2), size enum('small', 'large'),
      placed datetime(3), raw varbinary(10));
      INSERT INTO ${database}.orders VALUES (1, 'tea', 2.50, 'large', '2026-11-22 10:00:00.123', x'0102')`)
    const group = new WorkerGroup(bootstrap, debeziumSettings(javaHost.address, debezium.address, ['mariadb']))
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    expect(await client.plugins()).toContainEqual({ class: SOURCE, type: 'source', version: '3.4.0.Final' })
    // The configuration of Debezium's documentation, with its transform for plain rows.
    await client.create('orders', {
      'connector.class': SOURCE,
      'database.hostname': '127.0.0.1',
      'database.port': String(mariadb.address.port),
      'database.user': mariadb.address.user,
      'database.password': mariadb.address.password,
      'database.server.id': String(process.pid),
      // The server has no certificate.
      'database.ssl.mode': 'disable',
      'topic.prefix': group.id,
      'database.include.list': database,
      'schema.history.internal.kafka.bootstrap.servers': bootstrap,
      'schema.history.internal.kafka.topic': `${group.id}-history`,
      'include.schema.changes': 'true',
      'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      transforms: 'unwrap',
      'transforms.unwrap.type': 'io.debezium.transforms.ExtractNewRecordState',
      'transforms.unwrap.delete.tombstone.handling.mode': 'rewrite',
      'transforms.unwrap.add.fields': 'op',
    })
    const rows = async () =>
      (await readTopic(bootstrap, `${group.id}.${database}.orders`)).map(({ value }) => parseJson(value))
    const untilCount = (count: number) => untilOn(worker!, `${count} rows`, async () => (await rows()).length >= count)
    await untilCount(1)
    const tea = { id: 1, item: 'tea', size: 'large', placed: Date.UTC(2026, 10, 22, 10, 0, 0, 123), raw: 'AQI=' }
    expect(await rows()).toEqual([{ ...tea, price: 'APo=', __op: 'r', __deleted: 'false' }])

    await run(`ALTER TABLE ${database}.orders ADD COLUMN note varchar(10);
      UPDATE ${database}.orders SET price = 3, note = 'hot' WHERE id = 1`)
    await untilCount(2)
    expect((await rows()).at(-1)).toEqual({ ...tea, price: 'ASw=', note: 'hot', __op: 'u', __deleted: 'false' })
    const history = async () => (await readTopic(bootstrap, `${group.id}-history`)).map(({ value }) => String(value))
    expect((await history()).join()).toContain('ADD COLUMN note')

    // The new JVM reads the history to know the columns of the table.
    expect(killJvm(worker!, 'debezium-connector-mariadb')).toBe(true)
    await run(
      `INSERT INTO ${database}.orders (id, item, note) VALUES (2, 'bun', 'cold'); DELETE FROM ${database}.orders WHERE id = 1`,
    )
    await untilOn(worker!, 'the deletion', async () => (await rows()).at(-1)?.['__deleted'] === 'true')
    expect((await rows()).slice(-2)).toMatchObject([
      { id: 2, item: 'bun', note: 'cold', __op: 'c' },
      { id: 1, item: 'tea', __op: 'd' },
    ])
  })
})
