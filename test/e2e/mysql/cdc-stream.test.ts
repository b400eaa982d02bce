import { expect, it } from 'vitest'
import type { SourceRecord } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { HISTORY, rowsOf, startMysqlCdc, takeRows } from '../../support/mysql-cdc.ts'
import { MYSQL_WORKLOAD } from '../../support/mysql-cdc-workload.ts'
import { createMysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

type Event = { readonly op: string; readonly before: unknown; readonly after: unknown }

const short = ({ value }: { readonly value: unknown }) => {
  if (value === null) return null
  const { op, before, after } = value as { readonly op: string; readonly before: unknown; readonly after: unknown }
  return { op, before, after }
}

describeOn([mariadb], 'MariadbCdcSource', () => {
  it('reads existing rows, and then changes, with the events of Debezium', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE people (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL, age TINYINT)',
      "INSERT INTO people (name, age) VALUES ('Ada', 36), ('Grace', NULL)",
    )
    const run = startMysqlCdc(mariadb.address, database)
    const existing = await takeRows(run, 2)
    expect(existing.map(short)).toEqual([
      { op: 'r', before: null, after: { id: 1, name: 'Ada', age: 36 } },
      { op: 'r', before: null, after: { id: 2, name: 'Grace', age: null } },
    ])
    await database.run(
      "INSERT INTO people (name) VALUES ('Edsger')",
      'UPDATE people SET age = 72 WHERE id = 3',
      'UPDATE people SET id = 4 WHERE id = 3',
      'DELETE FROM people WHERE id = 1',
    )
    const changes = await takeRows(run, 7)
    expect(changes.map(short)).toEqual([
      { op: 'c', before: null, after: { id: 3, name: 'Edsger', age: null } },
      { op: 'u', before: { id: 3, name: 'Edsger', age: null }, after: { id: 3, name: 'Edsger', age: 72 } },
      { op: 'd', before: { id: 3, name: 'Edsger', age: 72 }, after: null },
      null,
      { op: 'c', before: null, after: { id: 4, name: 'Edsger', age: 72 } },
      { op: 'd', before: { id: 1, name: 'Ada', age: 36 }, after: null },
      null,
    ])
  })

  it('has the same values of all types in existing rows and in changes', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const types = MYSQL_WORKLOAD.setup.slice(0, 4)
    await database.run(...types)
    const run = startMysqlCdc(mariadb.address, database)
    const existing = await takeRows(run, 2)
    await database.run(...types.slice(2))
    const added = await takeRows(run, 2)
    const valuesOf = ({ value }: (typeof added)[number]) => {
      const { after } = value as { readonly after: Readonly<Record<string, unknown>> }
      return { ...after, id: 0, ts6: after['ts6'] === '' ? '' : 'any', dc: 'any' }
    }
    expect(added.map(valuesOf)).toEqual(existing.map(valuesOf))
    expect(valuesOf(existing[0]!)).toMatchSnapshot()
  })

  it('continues after each record, without a change that is missing or repeated, with the structure of tables at that place', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run('CREATE TABLE t (id INT PRIMARY KEY, word VARCHAR(20))', "INSERT INTO t VALUES (1, 'one')")
    const first = startMysqlCdc(mariadb.address, database)
    await takeRows(first, 1)
    await database.run(
      "INSERT INTO t VALUES (2, 'two'), (3, 'three')",
      'START TRANSACTION',
      "INSERT INTO t VALUES (4, 'four'), (5, 'five')",
      "UPDATE t SET word = 'x' WHERE id IN (2, 3)",
      'COMMIT',
      'ALTER TABLE t ADD COLUMN n INT NOT NULL DEFAULT 7 FIRST',
      "INSERT INTO t (id, word) VALUES (6, 'six')",
      'FLUSH BINARY LOGS',
      'ALTER TABLE t CHANGE word text_of_it VARCHAR(30), DROP COLUMN n',
      "INSERT INTO t VALUES (7, 'seven')",
    )
    const records = await first.take(10)
    const all = rowsOf(records)
    const history = first.reported(HISTORY)
    const keysOf = (rows: readonly SourceRecord[]) => rows.map(({ value }) => JSON.stringify((value as Event).after))
    expect(keysOf(all)).toHaveLength(8)
    await first.stop()
    for (const [index, { sourceOffset }] of all.slice(0, -1).entries()) {
      const next = startMysqlCdc(mariadb.address, database, { offset: sourceOffset, history })
      const rest = await takeRows(next, all.length - index - 1)
      expect(keysOf(rest), `after record ${index}`).toEqual(keysOf(all.slice(index + 1)))
      await next.stop()
    }
  })
})
