import { expect, it } from 'vitest'
import type { SourceRecord, SourceRun } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { HISTORY, PREFIX, rowsOf, startMysqlCdc, takeRows } from '../../support/mysql-cdc.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

type Event = {
  readonly op: string
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
  readonly source: Readonly<Record<string, unknown>>
  readonly transaction: object | null
}

const eventOf = ({ value }: SourceRecord) => value as Event
const T = 'CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20), big TEXT, n INT NOT NULL DEFAULT 3)'

/** A database with a table, and a source that has read its rows. */
async function started(config: Readonly<Record<string, string>> = {}, ...setup: readonly string[]) {
  const database = await createMysqlDatabase(mariadb.address)
  await database.run(T, "INSERT INTO t VALUES (1, 'one', 'text', 1)", ...setup)
  const run = startMysqlCdc(mariadb.address, database, { config })
  await takeRows(run, 1)
  // The batch after the last row ends the snapshot.
  await run.nextBatch()
  return { database, run }
}

/** Takes the records of the first transaction with rows. Other tests have transactions on this server, too. */
async function takeTransaction(run: SourceRun): Promise<readonly SourceRecord[]> {
  const records: SourceRecord[] = []
  for (;;) {
    records.push(...(await run.take(1)))
    const last = records.at(-1)!.value as { readonly id?: string; readonly event_count?: number | null }
    if (!last.event_count) continue
    const idOf = ({ value }: SourceRecord) => Reflect.get((value as Event).transaction ?? Object(value), 'id')
    return records.filter((record) => idOf(record) === last.id)
  }
}

describeOn([mariadb], 'the settings of MariadbCdcSource', () => {
  it('let events have a placeholder, or no field, for what a minimal row image does not have', async () => {
    for (const mode of ['placeholder', 'omit']) {
      const { database, run } = await started({ 'unavailable.value.mode': mode, 'tombstones.on.delete': 'false' })
      await database.run(
        "SET SESSION binlog_row_image = 'MINIMAL'",
        "UPDATE t SET word = 'changed' WHERE id = 1",
        'DELETE FROM t WHERE id = 1',
      )
      const [update, deletion] = (await takeRows(run, 2)).map(eventOf)
      expect(update).toMatchObject({ op: 'u', before: null, after: { id: 1, word: 'changed' } })
      expect(update!.after!['big']).toBe(mode === 'omit' ? undefined : '__debezium_unavailable_value')
      expect(deletion).toMatchObject({ op: 'd', before: { id: 1, word: null, big: null, n: 3 }, after: null })
    }
  })

  it('let events have their number in the transaction, also after a restart within it', async () => {
    const config = { 'provide.transaction.metadata': 'true' }
    const { database, run } = await started(config)
    await database.run(
      'START TRANSACTION',
      'INSERT INTO t (id) VALUES (2), (3)',
      'UPDATE t SET n = 4 WHERE id = 2',
      'COMMIT',
    )
    const records = await takeTransaction(run)
    const [begin, ...rest] = records
    expect(begin).toMatchObject({ topic: `${PREFIX}.transaction`, value: { status: 'BEGIN', event_count: null } })
    const numbers = (all: readonly SourceRecord[]) => all.map((one) => eventOf(one).transaction)
    const id = (begin!.value as { readonly id: string }).id
    const numbered = (at: number) => ({ id, total_order: at, data_collection_order: at })
    expect(numbers(rest.slice(0, 3))).toEqual([numbered(1), numbered(2), numbered(3)])
    const collections = [{ data_collection: `${database.name}.t`, event_count: 3 }]
    expect(rest[3]!.value).toMatchObject({ status: 'END', event_count: 3, data_collections: collections })
    await run.stop()
    const history = run.reported(HISTORY)
    const next = startMysqlCdc(mariadb.address, database, { config, offset: rest[0]!.sourceOffset, history })
    const again = await takeTransaction(next)
    expect(numbers(again.slice(0, 2))).toEqual([numbered(2), numbered(3)])
    expect(again[2]!.value).toMatchObject({ status: 'END', event_count: 3 })
  })

  it('let events have the statement that changed the rows', async () => {
    const { database, run } = await started({ 'include.query': 'true' })
    const sql = "INSERT INTO t (id, word) VALUES (5, 'five')"
    await database.run(sql)
    expect((await takeRows(run, 1)).map((one) => eventOf(one).source['query'])).toEqual([sql])
  })

  it('select databases, tables and columns, and mask values', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(T, 'CREATE TABLE other (id INT PRIMARY KEY)')
    const run = startMysqlCdc(mariadb.address, database, {
      config: {
        'table.include.list': `${database.name}.t`,
        'column.exclude.list': '.*\\.big',
        'column.mask.with.3.chars': '.*\\.word',
        'topic.prefix': PREFIX,
      },
    })
    while ((await run.nextBatch()).length > 0);
    await database.run('INSERT INTO other VALUES (1)', "INSERT INTO t (id, word) VALUES (1, 'secret')")
    const [record] = await takeRows(run, 1)
    expect(record!.topic).toBe(`${PREFIX}.${database.name}.t`)
    expect(eventOf(record!).after).toEqual({ id: 1, word: '***', n: 3 })
  })

  it('read existing rows with another statement', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE t (id INT PRIMARY KEY, f FLOAT)',
      'INSERT INTO t VALUES (1, 0.1), (2, 1.1), (3, 3)',
    )
    const key = 'snapshot.select.statement.overrides'
    const start = (statement: string) =>
      startMysqlCdc(mariadb.address, database, {
        config: { [key]: `${database.name}.t`, [`${key}.${database.name}.t`]: statement },
      })
    const rows = await takeRows(start(`SELECT f, id FROM ${database.name}.t WHERE id < 3 -- not the third`), 2)
    expect(rows.map((one) => eventOf(one).after)).toEqual([
      { id: 1, f: Math.fround(0.1) },
      { id: 2, f: Math.fround(1.1) },
    ])
    expect(eventOf(rows[1]!).source['snapshot']).toBe('last')
    await expect(takeRows(start(`SELECT id FROM ${database.name}.t`), 1)).rejects.toThrow("Unknown column 'f'")
    await expect(start('').take(1)).rejects.toThrow(`${key}.${database.name}.t is missing`)
  })

  it('stop the task at a change that the log has as a statement, and at what it cannot read', async () => {
    const { database, run } = await started()
    await database.run("SET SESSION binlog_format = 'STATEMENT'", 'INSERT INTO t (id) VALUES (7)')
    await expect(run.take(1)).rejects.toThrow(/at position \d+ of binlog.*as a statement instead of rows/)
    const compressed = await started({}, 'CREATE TABLE c (id INT, a TEXT COMPRESSED)')
    await compressed.database.run("INSERT INTO c VALUES (1, 'x')")
    await expect(compressed.run.take(1)).rejects.toThrow('the column a')
  })

  it('stop the task when its position or its schema history is gone, unless it may read the rows again', async () => {
    const { database, run } = await started()
    const history = run.reported(HISTORY)
    await run.stop()
    const offset = { file: 'binlog.000000', pos: 4 }
    const failed = startMysqlCdc(mariadb.address, database, { offset, history })
    await expect(failed.take(1)).rejects.toThrow('has no binary log at the stored position binlog.000000:4 any more')
    const config = { 'snapshot.mode': 'when_needed' }
    const recovered = startMysqlCdc(mariadb.address, database, { offset, history, config })
    expect(eventOf((await takeRows(recovered, 1))[0]!).op).toBe('r')
    const { offset: stored } = run.advanced.at(-1)!
    const forgetful = startMysqlCdc(mariadb.address, database, { offset: stored })
    await expect(forgetful.take(1)).rejects.toThrow('the schema history history has no records of server')
    const rewritten = startMysqlCdc(mariadb.address, database, {
      offset: stored,
      config: { 'snapshot.mode': 'recovery' },
    })
    await rewritten.nextBatch()
    await database.run('INSERT INTO t (id) VALUES (8)')
    expect(eventOf((await takeRows(rewritten, 1))[0]!)).toMatchObject({ op: 'c', after: { id: 8, n: 3 } })
  })

  it('retries when the server ends the connection', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const user = database.name.slice(0, 20)
    await database.run(T, `CREATE USER ${user} IDENTIFIED BY 'x'`, `GRANT ALL ON *.* TO ${user}`)
    const config = { 'database.user': user, 'database.password': 'x' }
    const run = startMysqlCdc(mariadb.address, database, { config })
    await run.nextBatch()
    await database.run('INSERT INTO t (id) VALUES (9)')
    const [record] = await takeRows(run, 1)
    const dumps = `user = '${user}' AND command LIKE 'Binlog Dump%'`
    const rows = await database.run(`SELECT id FROM information_schema.processlist WHERE ${dumps}`)
    expect(rows).toHaveLength(1)
    await database.run(`KILL ${rows[0]![0]}`)
    await expect(run.take(1)).rejects.toMatchObject({ name: 'RetriableError' })
    const next = startMysqlCdc(mariadb.address, database, {
      offset: record!.sourceOffset,
      history: run.reported(HISTORY),
    })
    await database.run('INSERT INTO t (id) VALUES (10)')
    expect(rowsOf(await takeRows(next, 1)).map((one) => eventOf(one).after!['id'])).toEqual([10])
    await database.run(`DROP USER ${user}`)
  })
})
