import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase } from '../../support/database.ts'
import { debeziumSettings, killJvm, postgresSource, startSourceDatabase, untilOn } from '../../support/debezium.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const debezium = await real('debezium')
const postgres = await real('postgres')

const SINK = 'io.debezium.connector.jdbc.JdbcSinkConnector'

describeOn([kafka, javaHost, debezium, postgres], 'the JDBC sink of Debezium', () => {
  it('copies a table with its changes and its new columns, in Avro, also when its JVM is killed', {
    timeout: 300_000,
  }, async () => {
    const source = await startSourceDatabase()
    await source.run(`CREATE TABLE orders (id int PRIMARY KEY, item text NOT NULL, price numeric(10, 2), placed timestamptz);
      INSERT INTO orders SELECT id, 'item ' || id, id * 1.25, '2026-11-22 10:00:00+00' FROM generate_series(1, 200) AS id`)
    const target = await createDatabase(postgres.address.url)
    const registry = await startRegistryProcess(['--data', join(temporaryDirectory(), 'data')], {})
    onTestFinished(() => registry.kill())
    const avro = Object.fromEntries(
      ['key', 'value'].flatMap((part) => [
        [`${part}.converter`, 'io.confluent.connect.avro.AvroConverter'],
        [`${part}.converter.schema.registry.url`, registry.url],
      ]),
    )
    const settings = debeziumSettings(javaHost.address, debezium.address, ['postgres', 'jdbc'])
    const group = new WorkerGroup(kafka.address.bootstrap, settings)
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    expect(await client.plugins()).toContainEqual({ class: SINK, type: 'sink', version: '3.4.0.Final' })
    await client.create('orders', {
      ...postgresSource(source, group.id, ['public.orders']),
      // Names that Avro allows, as the documentation asks for with this converter.
      'schema.name.adjustment.mode': 'avro',
      ...avro,
    })
    // The configuration of Debezium's documentation.
    await client.create('orders-copy', {
      'connector.class': SINK,
      'tasks.max': '1',
      'connection.url': target.config['connection.url'],
      'connection.username': target.config['connection.user'],
      'connection.password': target.config['connection.password'],
      'insert.mode': 'upsert',
      'delete.enabled': 'true',
      'primary.key.mode': 'record_key',
      'schema.evolution': 'basic',
      'use.time.zone': 'UTC',
      'collection.name.format': 'orders_copy',
      topics: `${group.id}.public.orders`,
      ...avro,
    })
    const rowsOf = async (database: typeof source, table: string) =>
      JSON.stringify(await database.run(`SELECT * FROM ${table} ORDER BY id`))
    const untilCopied = () =>
      untilOn(worker!, 'the copy', async () => {
        return (await rowsOf(source, 'orders')) === (await rowsOf(target, 'orders_copy').catch(String))
      })
    await untilCopied()

    await source.run("UPDATE orders SET item = 'tea', price = NULL WHERE id < 50; DELETE FROM orders WHERE id > 150")
    expect(killJvm(worker!, 'debezium-connector-jdbc')).toBe(true)
    await source.run(`ALTER TABLE orders ADD COLUMN note text;
      INSERT INTO orders VALUES (1000, 'bun', 2.5, NULL, 'cold'); UPDATE orders SET note = 'hot' WHERE id = 2`)
    await untilCopied()
    const [columns] = await target.run(
      "SELECT string_agg(column_name, ' ' ORDER BY column_name) AS names FROM information_schema.columns WHERE table_name = 'orders_copy'",
    )
    expect(columns).toEqual({ names: 'id item note placed price' })
    expect((await client.status('orders-copy')).tasks).toMatchObject([{ state: 'RUNNING' }])
  })
})
