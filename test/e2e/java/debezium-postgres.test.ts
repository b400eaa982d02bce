import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import {
  debeziumSettings,
  parseJson,
  postgresSource,
  readTopic,
  startSourceDatabase,
  untilOn,
} from '../../support/debezium.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const debezium = await real('debezium')
const postgres = await real('postgres')

const SOURCE = 'io.debezium.connector.postgresql.PostgresConnector'
const TABLE = `CREATE TABLE orders (
  id bigint PRIMARY KEY, item text NOT NULL, price numeric(10, 2), tags text[], details jsonb, raw bytea,
  code uuid, due date, placed timestamptz, weight double precision, is_paid boolean DEFAULT false
)`

describeOn([kafka, javaHost, debezium, postgres], 'Debezium PostgreSQL', () => {
  it('writes the rows of a table to the topic, then each of their changes', { timeout: 300_000 }, async () => {
    const database = await startSourceDatabase()
    await database.run(`${TABLE}; INSERT INTO orders VALUES
      (1, 'tea', 2.50, '{a,b}', '{"cups": 2}', '\\x0102', '0e37df36-f698-11e6-8dd4-cb9ced3df976', '2026-11-22',
       '2026-11-22 10:00:00+01', 0.5, true),
      (9007199254740993, 'cake', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
    const { bootstrap } = kafka.address
    const group = new WorkerGroup(bootstrap, debeziumSettings(javaHost.address, debezium.address, ['postgres']))
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    expect(await client.plugins()).toContainEqual({ class: SOURCE, type: 'source', version: '3.4.0.Final' })
    await client.create('orders', {
      ...postgresSource(database, group.id, ['public.orders']),
      'value.converter.replace.null.with.default': 'false',
    })
    const topic = `${group.id}.public.orders`
    const changes = async () => (await readTopic(bootstrap, topic)).map(({ value }) => parseJson(value))
    const untilCount = (count: number) =>
      untilOn(worker!, `${count} changes`, async () => (await changes()).length >= count)
    await untilCount(2)
    expect(await changes()).toMatchObject([
      {
        op: 'r',
        before: null,
        after: {
          id: 1,
          item: 'tea',
          price: 'APo=',
          tags: ['a', 'b'],
          details: '{"cups": 2}',
          raw: 'AQI=',
          code: '0e37df36-f698-11e6-8dd4-cb9ced3df976',
          due: 20_779,
          placed: '2026-11-22T09:00:00.000000Z',
          weight: 0.5,
          is_paid: true,
        },
        source: { connector: 'postgresql', snapshot: 'first', db: database.name, table: 'orders' },
      },
      // The column has a default, but the row has NULL.
      { op: 'r', after: { item: 'cake', price: null, is_paid: null }, source: { snapshot: 'last' } },
    ])
    const [, cake] = await readTopic(bootstrap, topic)
    expect(cake?.key?.toString()).toContain('"payload":{"id":9007199254740993}')

    await database.run(`INSERT INTO orders (id, item) VALUES (2, 'bun');
      UPDATE orders SET price = 3 WHERE id = 1; DELETE FROM orders WHERE id = 2`)
    await untilCount(6)
    expect((await changes()).slice(2)).toMatchObject([
      { op: 'c', before: null, after: { id: 2, item: 'bun', is_paid: false } },
      { op: 'u', after: { id: 1, price: 'ASw=' } },
      { op: 'd', before: { id: 2 }, after: null },
      // The tombstone of the deleted row.
      expect.toSatisfy((value) => value === null),
    ])
    // The position of the delete, not the end of the server's log, to which other databases write as well.
    const { source } = (await changes())[4] as { readonly source: { readonly lsn: number } }
    // Debezium reads the committed offset and confirms it, so that the server may delete its log.
    await untilOn(worker!, 'the confirmed position', async () => {
      const confirmed = `SELECT confirmed_flush_lsn - '0/0' >= $1 AS is_so FROM pg_replication_slots WHERE database = $2`
      return (await database.run(confirmed, [String(source.lsn), database.name]))[0]?.['is_so'] === true
    })
    await untilOn(worker!, 'a heartbeat', async () => {
      return (await readTopic(bootstrap, `__debezium-heartbeat.${group.id}`)).length > 0
    })
  })
})
