import { expect, it, onTestFinished } from 'vitest'
import { jdbcSource } from '../../../src/plugins/connectors/jdbc/jdbc-source.ts'
import { type Position, runSource, type SourceRecord } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createMysqlDatabase, type MysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

type Offsets = readonly { readonly partition: Position; readonly offset: Position }[]
type Warning = Readonly<Record<string, unknown>>

/** The source on a database; it ends with the test. */
function source(
  database: MysqlDatabase,
  config: Readonly<Record<string, string>>,
  offsets: Offsets = [],
  warnings: Warning[] = [],
) {
  const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => void warnings.push(fields as Warning) }
  const base = { 'topic.prefix': 'my-', 'poll.interval.ms': '10', 'connection.attempts': '1' }
  const run = runSource(jdbcSource, { config: { ...database.config, ...base, ...config }, offsets, log })
  onTestFinished(() => run.stop())
  return run
}

const valuesOf = (records: readonly SourceRecord[], field: string) =>
  records.map(({ value }) => (value as Record<string, unknown>)[field])

const offsetsOf = (records: readonly SourceRecord[]): Offsets =>
  records.slice(-1).map(({ sourcePartition, sourceOffset }) => ({ partition: sourcePartition, offset: sourceOffset }))

const CHANGES = `CREATE TABLE changes (id int unsigned AUTO_INCREMENT PRIMARY KEY, word varchar(20),
  at datetime(6) NOT NULL DEFAULT now(6))`

describeOn([mariadb], 'the JDBC source with MariaDB', () => {
  it('reads new rows by an AUTO_INCREMENT column, and resumes after the last one, also from offsets of JDBC connectors', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(CHANGES, "INSERT INTO changes (word) VALUES ('a'), ('b'), ('c')")
    const first = source(database, { mode: 'incrementing' })
    const records = await first.take(3)
    expect(valuesOf(records, 'word')).toEqual(['a', 'b', 'c'])
    const table = `${database.name}.changes`
    expect(records[2]).toMatchObject({
      topic: 'my-changes',
      sourcePartition: { protocol: '1', table },
      sourceOffset: { incrementing: 3 },
      valueSchema: { type: 'struct', name: 'changes', fields: [{ name: 'id', schema: { type: 'int64' } }, {}, {}] },
    })
    await database.run("INSERT INTO changes (word) VALUES ('d')", "UPDATE changes SET word = 'A' WHERE id = 1")
    expect(valuesOf(await first.take(1), 'word')).toEqual(['d'])
    const stored = { partition: { protocol: '1', table }, offset: { incrementing: 3 } }
    for (const offsets of [offsetsOf(records), [stored]]) {
      const next = source(database, { mode: 'incrementing' }, offsets)
      expect(valuesOf(await next.take(1), 'word')).toEqual(['d'])
    }
  })

  it.each(['datetime(6)', 'timestamp(6)'])(
    'reads new and changed rows by a %s and an id, without repeating rows, in any time zone',
    async (type) => {
      const database = await createMysqlDatabase(mariadb.address)
      await database.run(
        `CREATE TABLE changes (id int PRIMARY KEY, word varchar(20), at ${type} NOT NULL DEFAULT now(6))`,
        "INSERT INTO changes SELECT seq, 'a', '2020-07-01 10:00:00.000001' FROM seq_1_to_5",
      )
      const config = {
        ...{ mode: 'timestamp+incrementing', 'timestamp.column.name': 'AT', 'incrementing.column.name': 'id' },
        ...{ 'batch.max.rows': '2', 'db.timezone': 'Europe/Berlin' },
      }
      const first = source(database, config)
      const records = await first.take(3)
      const instant = Date.parse(type.startsWith('timestamp') ? '2020-07-01T10:00:00Z' : '2020-07-01T08:00:00Z')
      expect(records[2]!.sourceOffset).toEqual({ incrementing: 3, timestamp: instant, timestamp_nanos: 1000 })
      expect((records[2]!.value as { readonly at: Date }).at.getTime()).toBe(instant)
      const second = source(database, config, offsetsOf(records))
      expect(valuesOf(await second.take(2), 'id')).toEqual([4, 5])
      await database.run("UPDATE changes SET word = 'changed', at = '2020-07-01 10:00:00.000002' WHERE id = 2")
      expect((await second.take(1))[0]!.value).toMatchObject({ id: 2, word: 'changed' })
    },
  )

  it('skips no rows with the same timestamp when query.suffix limits the rows', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE limited (id int, at datetime NOT NULL)',
      "INSERT INTO limited SELECT seq, '2020-01-01' + INTERVAL seq DIV 3 SECOND FROM seq_1_to_12",
    )
    const config = { mode: 'timestamp', 'timestamp.column.name': 'at', 'query.suffix': 'LIMIT 0, 5' }
    const run = source(database, config)
    const ids = new Set<unknown>()
    while (ids.size < 12) for (const id of valuesOf(await run.take(1), 'id')) ids.add(id)
    const stuck = source(database, { ...config, 'query.suffix': 'LIMIT 3' })
    await expect(stuck.take(100)).rejects.toThrow('would skip rows')
  })

  it('waits for transactions that may still add rows before those that are visible', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(CHANGES)
    const other = await database.session()
    await other.execute('begin', 'START TRANSACTION')
    await other.execute('add a row', "INSERT INTO changes (word) VALUES ('early')")
    await database.run("INSERT INTO changes (word) VALUES ('late')")
    // The source begins a transaction of its own each time it reads those of others.
    const begun = async () => Number((await database.run("SHOW GLOBAL STATUS LIKE 'Com_begin'"))[0]![1])
    const before = await begun()
    const run = source(database, { mode: 'incrementing' })
    const records = run.take(2)
    await expect.poll(begun).toBeGreaterThan(before + 2)
    await other.execute('commit', 'COMMIT')
    expect(valuesOf(await records, 'word')).toEqual(['early', 'late'])
  })

  it('reads without waiting, and warns once, if the account may not see transactions', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const user = database.name.slice(0, 20)
    await database.run(
      CHANGES,
      "INSERT INTO changes (word) VALUES ('a')",
      `CREATE USER ${user} IDENTIFIED BY 'x'`,
      `GRANT SELECT ON ${database.name}.* TO ${user}`,
    )
    onTestFinished(async () => void (await database.run(`DROP USER ${user}`)))
    const warnings: Warning[] = []
    const login = { 'connection.user': user, 'connection.password': 'x' }
    const run = source(database, { mode: 'incrementing', ...login }, [], warnings)
    await run.take(1)
    await database.run("INSERT INTO changes (word) VALUES ('b')")
    expect(valuesOf(await run.take(1), 'word')).toEqual(['b'])
    expect(warnings.map(({ err }) => String(err))).toEqual([expect.stringContaining('1227')])
  })

  it('reads a query, all rows in mode bulk, and views, from the selected database', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE `odd``name` (`a``b` int NOT NULL, c int)',
      'INSERT INTO `odd``name` VALUES (1, 2), (3, NULL)',
      'CREATE VIEW seen AS SELECT c FROM `odd``name`',
    )
    const rows = [
      { 'a`b': 1, c: 2 },
      { 'a`b': 3, c: null },
    ]
    const bulk = source(database, { mode: 'bulk' })
    expect((await bulk.take(4)).map(({ value }) => value)).toEqual([...rows, ...rows])
    const query = source(database, {
      mode: 'bulk',
      query: 'SELECT c FROM `odd``name` WHERE c = 2;',
      'topic.prefix': 'q',
    })
    const [found] = await query.take(1)
    expect(found).toMatchObject({ topic: 'q', value: { c: 2 }, sourcePartition: { query: 'query' } })
    const view = source(database, { mode: 'bulk', 'table.types': 'VIEW' })
    expect((await view.take(1))[0]!.topic).toBe('my-seen')
    const without = { 'connection.url': database.config['connection.url'].replace(/\/[^/]*$/, '/') }
    const whitelist = { 'table.whitelist': `${database.name}.seen`, 'table.types': 'VIEW' }
    expect(valuesOf(await source(database, { mode: 'bulk', ...without, ...whitelist }).take(1), 'c')).toEqual([2])
    const other = source(database, { mode: 'bulk', ...without, 'catalog.pattern': 'no_such' })
    await expect(other.take(1)).rejects.toThrow('there is no table to read')
  })

  it('converts all types, and keeps NOT NULL', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      `CREATE TABLE t (ti tinyint NOT NULL, tu tinyint unsigned, t1 tinyint(1), bu bigint unsigned NOT NULL, f float, d double, de decimal(65, 30),
        b1 bit(1), b9 bit(9), y year, da date, tm time(6), dt datetime(6), ts timestamp(6) NULL, vb varbinary(9), lb longblob,
        c char(9) CHARACTER SET latin1, lt longtext, e enum('x', 'it''s'), s set('a', 'b'), j json, u uuid, i inet6, p point)`,
      `INSERT INTO t VALUES (-128, 255, 1, 9223372036854775807, 1.5, 0.1, -1.000000000000000000000000000001, 1, 257, 2020, '2020-02-29',
        '23:59:59.999999', '2020-07-01 12:00:00.123456', '2020-07-01 12:00:00', x'00ff', x'80', 'é', '😀''\\\\', 'it''s', 'a,b', '{"é": 1}',
        '123e4567-e89b-12d3-a456-426614174000', '::1', point(1, 2))`,
    )
    const [record] = await source(database, { mode: 'bulk', 'db.timezone': 'Europe/Berlin' }).take(1)
    expect(record!.value).toEqual({
      ...{ ti: -128, tu: 255, t1: 1, bu: 2n ** 63n - 1n, f: 1.5, d: 0.1 },
      ...{ de: { unscaled: -(10n ** 30n + 1n), scale: 30 }, b1: 1, b9: Buffer.from([1, 1]) },
      ...{ y: new Date('2020-01-01'), da: new Date('2020-02-29'), tm: 86_399_999 },
      ...{ dt: new Date('2020-07-01T10:00:00.123Z'), ts: new Date('2020-07-01T12:00:00Z') },
      ...{ vb: Buffer.from([0, 255]), lb: Buffer.from([128]), c: 'é', lt: "😀'\\", e: "it's", s: 'a,b', j: '{"é": 1}' },
      ...{ u: '123e4567-e89b-12d3-a456-426614174000', i: '::1', p: expect.any(Buffer) },
    })
    const required = record!.valueSchema!.fields!.filter(({ schema }) => schema.optional !== true)
    expect(required.map(({ name }) => name)).toEqual(['ti', 'bu'])
  })

  it('rejects a row that cannot be converted, and continues', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      "SET SESSION sql_mode = ''",
      'CREATE TABLE t (id int PRIMARY KEY, at datetime, n bigint unsigned)',
      "INSERT INTO t VALUES (1, '0000-00-00', 1), (2, '2020-00-00', 1), (3, NULL, 18446744073709551615), (4, '2020-01-01', 1)",
    )
    const config = { mode: 'incrementing', 'incrementing.column.name': 'id' }
    const run = source(database, config)
    expect(valuesOf(await run.take(2), 'at')).toEqual([null, new Date('2020-01-01')])
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(/cannot convert the column 'at' of the table .*\.t in the row \(2, 2020-00-00/),
      expect.stringContaining('18446744073709551615 is greater than'),
    ])
  })

  it('reads more rows than it holds in memory, while the reader is slow', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE t (id int PRIMARY KEY, pad longtext NOT NULL)',
      "INSERT INTO t SELECT seq, repeat('x', 20000) FROM seq_1_to_3000",
    )
    const run = source(database, { mode: 'incrementing', 'incrementing.column.name': 'id' })
    let count = 0
    while (count < 3000) {
      const batch = await run.nextBatch()
      expect(batch.length).toBeLessThanOrEqual(60)
      count += batch.length
    }
    expect(count).toBe(3000)
  })

  it('continues without losing rows when its connection is lost', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(CHANGES, "INSERT INTO changes (word) SELECT 'a' FROM seq_1_to_1000")
    const run = source(database, { mode: 'incrementing', 'batch.max.rows': '100' })
    const first = await run.take(100)
    const sessions = `SELECT id FROM information_schema.processlist WHERE db = '${database.name}' AND id <> connection_id()`
    for (const [id] of await database.run(sessions)) await database.run(`KILL ${id}`)
    const rest = await run.take(900)
    expect([...valuesOf(first, 'id'), ...valuesOf(rest, 'id')]).toEqual(Array.from({ length: 1000 }, (_, at) => at + 1))
  })

  it('fails with a remedy for a wrong password, a missing table and duplicate columns of a query', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const failure = (config: Readonly<Record<string, string>>) =>
      source(database, { mode: 'bulk', ...config })
        .take(1)
        .then(
          () => 'no failure',
          (error: Error) => error.message,
        )
    const denied = await failure({ 'connection.password': 'a wrong word' })
    expect(denied).toMatch(/Access denied.*\[1045 28000\]; correct/)
    expect(denied).not.toContain('a wrong word')
    expect(await failure({ tables: '`no``where`.`absent`' })).toMatch(
      /could not read the columns of the table no`where\.absent/,
    )
    expect(await failure({ query: 'SELECT 1 AS a, 2 AS a' })).toContain("Duplicate column name 'a'")
    expect(await failure({ query: 'SELECT 1; DROP TABLE t' })).toContain('[1064 42000]; correct the SQL')
  })
})
