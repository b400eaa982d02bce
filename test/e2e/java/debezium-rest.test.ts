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

describeOn([kafka, javaHost, debezium, postgres], 'Debezium PostgreSQL through the REST API', () => {
  it('rejects wrong connection settings with the error of the server, and is paused, restarted, stopped and reset', {
    timeout: 300_000,
  }, async () => {
    const database = await startSourceDatabase()
    await database.run('CREATE TABLE orders (id int PRIMARY KEY)')
    await database.run('INSERT INTO orders VALUES (1)')
    const { bootstrap } = kafka.address
    const group = new WorkerGroup(bootstrap, debeziumSettings(javaHost.address, debezium.address, ['postgres']))
    const [worker] = await group.start(1)
    const client = clientOf(worker!)
    const config = {
      ...postgresSource(database, group.id, ['public.orders']),
      'value.converter.schemas.enable': 'false',
    }

    const errorsOf = async (own: Readonly<Record<string, string>>, source = SOURCE) => {
      const written = { ...config, 'connector.class': source, name: 'orders', ...own }
      const { configs } = await client.validate(source, written)
      return configs.flatMap(({ value }) => value.errors.map((error) => `${value.name}: ${error}`))
    }
    const wrongSettings = [
      { 'database.password': 'wrong' },
      { 'database.dbname': 'missing' },
      { 'database.hostname': 'nowhere.invalid' },
      { 'database.port': '1' },
    ]
    for (const wrong of wrongSettings) {
      const theirs = await errorsOf(wrong)
      expect(theirs).toEqual([expect.stringMatching(/^database\.hostname: /)])
      // The connector of Weir rejects the same settings, some of them at a key that says more.
      expect(await errorsOf(wrong, 'PostgresCdcSource')).toEqual([expect.stringMatching(/^database\.\w+: /)])
    }
    expect(await errorsOf({}, 'PostgresCdcSource')).toEqual([])
    expect(await errorsOf({})).toEqual([])
    expect(await errorsOf({ 'database.password': 'wrong' })).toEqual([
      'database.hostname: Error while validating connector config: FATAL: password authentication failed for user "weir"',
    ])
    expect(await errorsOf({ 'database.dbname': 'missing' })).toEqual([
      'database.hostname: Error while validating connector config: FATAL: database "missing" does not exist',
    ])
    expect(await errorsOf({ 'table.include.list': '(' })).toEqual([
      expect.stringContaining(
        "table.include.list: The 'table.include.list' value is invalid: A comma-separated list of valid regular expressions is expected",
      ),
    ])
    await expect(client.create('orders', { ...config, 'database.password': 'wrong' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('FATAL: password authentication failed for user "weir"'),
    })

    await client.create('orders', config)
    const changes = async () =>
      (await readTopic(bootstrap, `${group.id}.public.orders`)).map(({ value }) => parseJson(value))
    const untilChange = (expected: object) =>
      untilOn(worker!, JSON.stringify(expected), async () => {
        const last = (await changes()).at(-1)
        return JSON.stringify({ op: last?.['op'], after: last?.['after'] }) === JSON.stringify(expected)
      })
    const untilState = (state: string) =>
      untilOn(worker!, state, async () => {
        const { connector, tasks } = await client.status('orders')
        return connector.state === state && tasks.every((task) => task.state === state)
      })
    await untilChange({ op: 'r', after: { id: 1 } })
    await client.pause('orders')
    await untilState('PAUSED')
    await database.run('INSERT INTO orders VALUES (2)')
    await client.resume('orders')
    await untilChange({ op: 'c', after: { id: 2 } })
    await client.restart('orders', { includeTasks: true })
    await database.run('INSERT INTO orders VALUES (3)')
    await untilChange({ op: 'c', after: { id: 3 } })

    await client.stop('orders')
    await untilState('STOPPED')
    const [stored] = await client.offsets('orders')
    expect(stored).toEqual({
      partition: { server: group.id },
      offset: expect.objectContaining({ lsn: expect.any(Number), txId: expect.any(Number) }),
    })
    await database.run('INSERT INTO orders VALUES (4)')
    await client.alterOffsets('orders', [stored!])
    await client.resume('orders')
    await untilChange({ op: 'c', after: { id: 4 } })
    await client.stop('orders')
    await untilState('STOPPED')
    await client.resetOffsets('orders')
    expect(await client.offsets('orders')).toEqual([])
    const known = (await changes()).length
    await client.resume('orders')
    await untilChange({ op: 'r', after: { id: 4 } })
    // Without offsets Debezium takes a new snapshot.
    expect((await changes()).slice(known)).toMatchObject([1, 2, 3, 4].map((id) => ({ op: 'r', after: { id } })))
  })
})
