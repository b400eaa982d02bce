import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import {
  debeziumSettings,
  killJvm,
  parseJson,
  postgresSource,
  readTopic,
  startSourceDatabase,
  untilOn,
} from '../../support/debezium.ts'
import { LEDGER_SETUP, LedgerWriter, lastRows, ROWS_OF_TRANSACTION, rowAfter } from '../../support/ledger-writer.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const debezium = await real('debezium')
const postgres = await real('postgres')

const LOCATION = 'debezium-connector-postgres'
/** Number of kills of each test; default: five in both together. */
const KILLS = process.env['WEIR_DEBEZIUM_KILLS']
describeOn([kafka, javaHost, debezium, postgres], 'Debezium PostgreSQL, of which JVM and worker are killed', () => {
  it.each([
    ['disabled', 'loses no change', 2],
    ['enabled', 'loses and repeats no change', 3],
  ])('with exactly.once.source.support=%s: %s', { timeout: 600_000 }, async (exactlyOnce, _, kills) => {
    const database = await startSourceDatabase()
    await database.run(LEDGER_SETUP)
    const { bootstrap } = kafka.address
    const group = new WorkerGroup(bootstrap, {
      ...debeziumSettings(javaHost.address, debezium.address, ['postgres']),
      'exactly.once.source.support': exactlyOnce,
    })
    let [worker] = await group.start(1)
    await clientOf(worker!).create('bank', {
      ...postgresSource(database, group.id, ['public.ledger', 'public.accounts']),
      'value.converter.schemas.enable': 'false',
      'key.converter.schemas.enable': 'false',
      ...(exactlyOnce === 'enabled' && { 'exactly.once.support': 'required' }),
    })
    const read = (table: string) => readTopic(bootstrap, `${group.id}.public.${table}`)
    const readLedger = async () =>
      (await read('ledger')).map(({ value }) => rowAfter(parseJson(value))).filter((row) => row !== null)
    const writer = new LedgerWriter(database)
    /**
     * Waits until a transaction that is written from now on is in the topic, and not by a snapshot: Debezium repeats a snapshot
     * that is interrupted, on Kafka Connect as well.
     */
    const untilNewChange = async () => {
      const known = writer.count
      await untilOn(worker!, 'a new change', async () => {
        const change = parseJson((await read('ledger')).at(-1)?.value ?? null)
        return change?.['op'] === 'c' && Number(rowAfter(change)?.['transaction']) > known
      })
    }
    await untilNewChange()
    for (let kill = 0; kill < Number(KILLS ?? kills); kill++) {
      if (kill % 2 === 0) expect(killJvm(worker!, LOCATION)).toBe(true)
      else {
        await worker!.kill()
        group.forget(worker!)
        worker = await group.startOne()
      }
      await untilNewChange()
    }
    await writer.stop()
    await untilOn(
      worker!,
      'the last change',
      async () => (await readLedger()).at(-1)?.['transaction'] === LedgerWriter.END,
    )

    const written = await database.run('SELECT id::int, transaction FROM ledger ORDER BY id')
    expect(written.length).toBe(writer.count * ROWS_OF_TRANSACTION + 1)
    const ledger = await readLedger()
    if (exactlyOnce === 'enabled') expect(ledger).toEqual(written)
    else expect([...new Map(ledger.map((row) => [row['id'], row])).values()]).toEqual(written)
    const accounts = lastRows(await read('accounts')).toSorted((a, b) => Number(a['id']) - Number(b['id']))
    expect(accounts).toEqual(await database.run('SELECT id, balance FROM accounts ORDER BY id'))
  })
})
