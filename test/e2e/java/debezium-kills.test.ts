import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import type { Database } from '../../support/database.ts'
import {
  debeziumSettings,
  killJvm,
  parseJson,
  postgresSource,
  readTopic,
  startSourceDatabase,
  type TopicRecord,
  untilOn,
} from '../../support/debezium.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const debezium = await real('debezium')
const postgres = await real('postgres')

const LOCATION = 'debezium-connector-postgres'
const ROWS_OF_TRANSACTION = 3
const ACCOUNTS = 50
const SETUP = `
  CREATE TABLE ledger (id bigserial PRIMARY KEY, transaction int NOT NULL);
  CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL);
  INSERT INTO accounts SELECT id, 0 FROM generate_series(1, ${ACCOUNTS}) AS id`
/** Number of kills of each test; default: five in both together. */
const KILLS = process.env['WEIR_DEBEZIUM_KILLS']
/** The last transaction. */
const END = -1

/** Writes transactions until it is stopped: each inserts rows of the ledger, and updates, deletes or adds an account. */
class LedgerWriter {
  readonly #database: Database
  readonly #done: Promise<void>
  #isStopping = false
  count = 0

  constructor(database: Database) {
    this.#database = database
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#done
    await this.#database.run(`INSERT INTO ledger (transaction) VALUES (${END})`)
  }

  async #run(): Promise<void> {
    const client = await this.#database.client()
    for (; !this.#isStopping; await sleep(10)) {
      this.count += 1
      const account = (this.count % ACCOUNTS) + 1
      const change =
        this.count % 7 === 0
          ? `DELETE FROM accounts WHERE id = ${account}`
          : `INSERT INTO accounts VALUES (${account}, 1) ON CONFLICT (id) DO UPDATE SET balance = accounts.balance + 1`
      const rows = Array(ROWS_OF_TRANSACTION).fill(`(${this.count})`)
      await client.query(`BEGIN; INSERT INTO ledger (transaction) VALUES ${rows}; ${change}; COMMIT`)
    }
    await client.end()
  }
}

describeOn([kafka, javaHost, debezium, postgres], 'Debezium PostgreSQL, of which JVM and worker are killed', () => {
  it.each([
    ['disabled', 'loses no change', 2],
    ['enabled', 'loses and repeats no change', 3],
  ])('with exactly.once.source.support=%s: %s', { timeout: 600_000 }, async (exactlyOnce, _, kills) => {
    const database = await startSourceDatabase()
    await database.run(SETUP)
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
      (await read('ledger')).map(({ value }) => rowOf(parseJson(value))).filter((row) => row !== null)
    const writer = new LedgerWriter(database)
    /**
     * Waits until a transaction that is written from now on is in the topic, and not by a snapshot: Debezium repeats a snapshot
     * that is interrupted, on Kafka Connect as well.
     */
    const untilNewChange = async () => {
      const known = writer.count
      await untilOn(worker!, 'a new change', async () => {
        const change = parseJson((await read('ledger')).at(-1)?.value ?? null)
        return change?.['op'] === 'c' && Number(rowOf(change)?.['transaction']) > known
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
    await untilOn(worker!, 'the last change', async () => (await readLedger()).at(-1)?.['transaction'] === END)

    const written = await database.run('SELECT id::int, transaction FROM ledger ORDER BY id')
    expect(written.length).toBe(writer.count * ROWS_OF_TRANSACTION + 1)
    const ledger = await readLedger()
    if (exactlyOnce === 'enabled') expect(ledger).toEqual(written)
    else expect([...new Map(ledger.map((row) => [row['id'], row])).values()]).toEqual(written)
    const accounts = lastRows(await read('accounts')).toSorted((a, b) => Number(a['id']) - Number(b['id']))
    expect(accounts).toEqual(await database.run('SELECT id, balance FROM accounts ORDER BY id'))
  })
})

type Row = Readonly<Record<string, unknown>>

/** The row after a change; null for a deleted one. */
function rowOf(change: Row | null): Row | null {
  return (change?.['after'] ?? null) as Row | null
}

/** The rows that exist after all changes. */
function lastRows(records: readonly TopicRecord[]): readonly Row[] {
  const last = new Map(records.map(({ key, value }) => [String(key), rowOf(parseJson(value))]))
  return [...last.values()].filter((row) => row !== null)
}
