import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { describeOn, real } from '../../env/real.ts'
import { randomOf } from '../../support/hostile-requests.ts'
import { createMysqlDatabase, type MysqlDatabase } from '../../support/mysql-database.ts'
import { mariadbConnector } from '../../support/mysql-side-by-side.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const mariadb = await real('mariadb')

/** Longer: `WEIR_MYSQL_KILLS=200`. The first fifth, at least one, is during the snapshot. */
const KILLS = Number(process.env['WEIR_MYSQL_KILLS'] ?? 2)
const SNAPSHOT_KILLS = Math.max(1, Math.floor(KILLS / 5))
const EXISTING_ROWS = 10_000
/** Changes between two kills. */
const CHANGES = 3_000
const TIMEOUT_MS = 120_000 + KILLS * 60_000
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const SETTINGS = {
  'exactly.once.source.support': 'enabled',
  'heartbeat.interval.ms': '500',
  'session.timeout.ms': '6000',
  'scheduled.rebalance.max.delay.ms': '0',
  'offset.storage.partitions': '1',
  // A machine that is busy with other tests gives no processor for long.
  'worker.thread.blocked.max.ms': '60000',
}

/** The values of a field of the committed events of a topic, which is read as it grows. */
class CommittedEvents {
  readonly values: number[] = []
  readonly #broker: Broker
  readonly #topic: string
  #reader: ReturnType<Broker['reader']> | undefined

  constructor(broker: Broker, topic: string) {
    this.#broker = broker
    this.#topic = topic
  }

  /** Reads what was added, and returns the number of all events. */
  async count(): Promise<number> {
    if (this.#reader === undefined) {
      if ((await this.#broker.topics.describe(this.#topic)) === undefined) return 0
      const reader = this.#broker.reader({ isolation: 'read_committed' })
      onTestFinished(() => reader.close())
      reader.seek([{ topic: this.#topic, partition: 0, offset: 0 }])
      this.#reader = reader
    }
    for (const { records } of await this.#reader.poll(100)) {
      for (const { value } of records) {
        const { after } = (
          JSON.parse(String(value)) as { readonly payload: { readonly after: { readonly n: number } } }
        ).payload
        this.values.push(after.n)
      }
    }
    return this.values.length
  }
}

/** Inserts numbers in transactions of different lengths, and alters the table meanwhile. */
class NumberWriter {
  readonly #database: MysqlDatabase
  readonly #random = randomOf(5)
  #alterations = 0
  written = 0

  constructor(database: MysqlDatabase) {
    this.#database = database
  }

  async writeUntil(wanted: number): Promise<void> {
    while (this.written < wanted) {
      const transaction = ['START TRANSACTION']
      for (let statement = 0; statement < 1 + this.#random() * 4; statement += 1) {
        const rows = Array.from(
          { length: 1 + Math.floor(this.#random() * 200) },
          (_, index) => this.written + index + 1,
        )
        this.written += rows.length
        transaction.push(
          `INSERT INTO numbers (n, text) VALUES ${rows.map((n) => `(${n}, REPEAT('x', 100))`).join(', ')}`,
        )
      }
      // Numbers that are never committed.
      const undone = ['SAVEPOINT s', `INSERT INTO numbers (n) VALUES (${-this.written})`, 'ROLLBACK TO SAVEPOINT s']
      await this.#database.run(...transaction, ...(this.#random() < 0.2 ? undone : []), 'COMMIT')
      if (this.#random() < 0.2) await this.#alter()
    }
  }

  async #alter(): Promise<void> {
    this.#alterations += 1
    const change = this.#alterations % 2 === 1 ? 'ADD COLUMN added INT FIRST' : 'DROP COLUMN added'
    await this.#database.run(`ALTER TABLE numbers ${change}`)
  }
}

describeOn([kafka, mariadb], 'MariadbCdcSource with exactly.once.source.support', () => {
  it('writes each change once and in order, and all existing rows, while its worker is killed', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { bootstrap } = kafka.address
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE existing (n INT PRIMARY KEY, text VARCHAR(100))',
      `INSERT INTO existing SELECT seq, REPEAT('x', 100) FROM seq_1_to_${EXISTING_ROWS}`,
      'CREATE TABLE numbers (n INT PRIMARY KEY, text VARCHAR(200))',
    )
    const broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    onTestFinished(() => broker.close())
    const group = new WorkerGroup(bootstrap, SETTINGS)
    let worker = await group.startOne()
    const prefix = `kills_${randomUUID().slice(0, 8)}`
    const connector = mariadbConnector({ bootstrap, mariadb: mariadb.address, database }, { prefix, serverId: 7_200 })
    await clientOf(worker).create('source', {
      ...connector,
      'provide.transaction.metadata': 'false',
      // Many transactions, so that a kill is within the snapshot.
      'snapshot.fetch.size': '50',
      'retriable.restart.connector.wait.ms': '500',
    })
    const existing = new CommittedEvents(broker, `${prefix}.${database.name}.existing`)
    const numbers = new CommittedEvents(broker, `${prefix}.${database.name}.numbers`)
    const untilSo = (what: string, isSo: () => Promise<boolean>) =>
      until(what, WAIT, async () => {
        const status = await clientOf(worker)
          .status('source')
          .catch(() => undefined)
        const failed = status?.tasks.find(({ state }) => state === 'FAILED')
        if (failed !== undefined) throw new Error(failed.trace)
        return isSo()
      })
    const kill = async () => {
      await worker.kill()
      group.forget(worker)
      worker = await group.startOne()
    }
    const isStreaming = async () => {
      const [stored] = await clientOf(worker).offsets('source')
      return stored !== undefined && stored.offset?.['snapshot'] === undefined
    }
    for (let killed = 0; killed < SNAPSHOT_KILLS; killed += 1) {
      const before = await existing.count()
      await untilSo('existing rows', async () => (await existing.count()) > before || (await isStreaming()))
      await kill()
    }
    await untilSo('the end of the snapshot', isStreaming)
    const writer = new NumberWriter(database)
    for (let killed = SNAPSHOT_KILLS; killed < KILLS; killed += 1) {
      const before = numbers.values.length
      const writing = writer.writeUntil(writer.written + CHANGES)
      await untilSo('changes', async () => (await numbers.count()) > before)
      await kill()
      await writing
    }
    await untilSo('the last change', async () => (await numbers.count()) >= writer.written)
    expect(numbers.values.filter((n, index) => n !== index + 1).slice(0, 10)).toEqual([])
    expect(numbers.values).toHaveLength(writer.written)
    await untilSo('the last existing row', async () => {
      await existing.count()
      return existing.values.at(-1) === EXISTING_ROWS
    })
    // A snapshot that was interrupted begins again, so its rows are repeated; the last one is complete.
    const last = existing.values.slice(-EXISTING_ROWS)
    expect(last.filter((n, index) => n !== index + 1)).toEqual([])
    console.log(
      `${KILLS} kills, ${existing.values.length} events of ${EXISTING_ROWS} existing rows, ${writer.written} changes`,
    )
  })
})
