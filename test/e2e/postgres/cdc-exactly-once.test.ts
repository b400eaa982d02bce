import { expect, it, onTestFinished } from 'vitest'
import { startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { cdcConfigOf } from '../../support/cdc-source.ts'
import { createDatabase } from '../../support/database.ts'
import { parseJson, readTopic, untilOn } from '../../support/debezium.ts'
import { LEDGER_SETUP, LedgerWriter, lastRows, ROWS_OF_TRANSACTION, rowAfter } from '../../support/ledger-writer.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const postgres = await real('postgres')

const KILLS = 2

describeOn([kafka, postgres], 'the PostgreSQL CDC source, whose worker is killed and whose server crashes', () => {
  it('loses and repeats no change with exactly.once.source.support=enabled', { timeout: 300_000 }, async () => {
    const server = await startPostgres({ wal_level: 'logical' })
    onTestFinished(() => server.stop())
    const database = await createDatabase(server.url, () => undefined)
    await database.run(LEDGER_SETUP)
    const { bootstrap } = kafka.address
    const group = new WorkerGroup(bootstrap, {
      'exactly.once.source.support': 'enabled',
      'offset.flush.interval.ms': '500',
      'heartbeat.interval.ms': '500',
      'session.timeout.ms': '6000',
      'scheduled.rebalance.max.delay.ms': '0',
    })
    let [worker] = await group.start(1)
    await clientOf(worker!).create('bank', {
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      ...cdcConfigOf(database),
      'snapshot.mode': 'initial',
      'topic.prefix': group.id,
      'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'key.converter.schemas.enable': 'false',
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      'exactly.once.support': 'required',
    })
    const read = (table: string) => readTopic(bootstrap, `${group.id}.public.${table}`)
    const readLedger = async () =>
      (await read('ledger')).map(({ value }) => rowAfter(parseJson(value))).filter((row) => row !== null)
    await untilOn(worker!, 'the slot', async () => {
      return (await database.run('SELECT FROM pg_replication_slots WHERE active')).length > 0
    })
    const writer = new LedgerWriter(database)
    const untilNewChange = async () => {
      const known = writer.count
      await untilOn(worker!, 'a new change', async () => Number((await readLedger()).at(-1)?.['transaction']) > known)
    }
    await untilNewChange()
    for (let kill = 0; kill < KILLS; kill++) {
      await worker!.kill()
      group.forget(worker!)
      worker = await group.startOne()
      await untilNewChange()
    }
    await writer.stop()
    await server.crash()
    await server.restart()
    await database.run(`INSERT INTO ledger (transaction) VALUES (${LedgerWriter.END})`)
    await untilOn(worker!, 'the last change', async () => {
      return (await readLedger()).filter(({ transaction }) => transaction === LedgerWriter.END).length >= 2
    })

    const written = await database.run('SELECT id::int, transaction FROM ledger ORDER BY id')
    expect(written.length).toBe(writer.count * ROWS_OF_TRANSACTION + 2)
    const ledger = await readLedger()
    expect(ledger).toEqual(written)
    const accounts = lastRows(await read('accounts')).toSorted((a, b) => Number(a['id']) - Number(b['id']))
    const changed = await database.run('SELECT id, balance FROM accounts WHERE balance > 0 ORDER BY id')
    expect(accounts.filter(({ balance }) => balance !== 0)).toEqual(changed)
  })
})
