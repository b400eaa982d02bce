import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { jdbcSink } from '../../../src/plugins/connectors/jdbc/jdbc-sink.ts'
import { jdbcSource } from '../../../src/plugins/connectors/jdbc/jdbc-source.ts'
import { textLiteral } from '../../../src/plugins/connectors/mysql/sql-literal.ts'
import {
  array,
  BOOLEAN,
  BYTES,
  DATE,
  decimal,
  FLOAT32,
  FLOAT64,
  type HarnessRecord,
  INT8,
  INT16,
  INT32,
  INT64,
  optional,
  runSink,
  runSource,
  type Schema,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createMysqlDatabase, type MysqlDatabase } from '../../support/mysql-database.ts'

const mariadb = await real('mariadb')

async function sink(database: MysqlDatabase, config: Readonly<Record<string, string>> = {}) {
  const base = { 'connection.attempts': '1', 'retry.backoff.ms': '5' }
  const run = await runSink(jdbcSink, { config: { ...database.config, ...base, ...config } })
  onTestFinished(() => run.stop())
  return run
}

const WORD = struct('word', { id: INT32, word: optional(STRING) })

function record(id: number, word: string | null, own: Partial<HarnessRecord> = {}): HarnessRecord {
  return { topic: 'words', key: id, keySchema: INT32, value: { id, word }, valueSchema: WORD, ...own }
}

const tombstone = (id: number) => record(id, null, { value: null, valueSchema: null })
const TABLE = 'CREATE TABLE words (id int PRIMARY KEY, word varchar(10) NOT NULL)'
const wordsIn = async (database: MysqlDatabase) => {
  const rows = await database.run('SELECT id, word FROM words ORDER BY id')
  return rows.map(([id, word]) => `${id} ${word}`)
}
const BY_KEY = { 'pk.mode': 'record_key', 'pk.fields': 'id' }
const UPSERT = { 'insert.mode': 'upsert', ...BY_KEY }

describeOn([mariadb], 'the JDBC sink with MariaDB', () => {
  it('inserts rows, in several statements if there are more than batch.size', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(TABLE)
    const run = await sink(database, { 'batch.size': '3' })
    await run.put(Array.from({ length: 10 }, (_, id) => record(id, `w${id}`)))
    expect(await wordsIn(database)).toEqual(Array.from({ length: 10 }, (_, id) => `${id} w${id}`))
  })

  it('upserts rows with the last record of each key, updates existing rows only, and deletes rows for tombstones', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(TABLE, "INSERT INTO words VALUES (1, 'old'), (7, 'old')")
    const upsert = await sink(database, { ...UPSERT, 'delete.enabled': 'true' })
    await upsert.put([record(1, 'a'), record(2, 'b'), record(1, 'c'), record(0, 'zero')])
    await upsert.put([record(2, 'd'), record(3, 'e')])
    expect(await wordsIn(database)).toEqual(['0 zero', '1 c', '2 d', '3 e', '7 old'])
    await upsert.put([tombstone(1), record(4, 'a'), tombstone(4), tombstone(2), record(2, 'again'), tombstone(9)])
    expect(await wordsIn(database)).toEqual(['0 zero', '2 again', '3 e', '7 old'])
    const update = await sink(database, { 'insert.mode': 'update', 'pk.mode': 'record_value', 'pk.fields': 'id' })
    await update.put([record(7, 'a'), record(8, 'b'), record(7, 'c')])
    expect(await wordsIn(database)).toEqual(['0 zero', '2 again', '3 e', '7 c'])
  })

  it('writes one row per topic, partition and offset with pk.mode=kafka, and keeps a zero in an AUTO_INCREMENT column', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run('CREATE TABLE words (id int AUTO_INCREMENT PRIMARY KEY, word text)')
    await (await sink(database)).put([record(0, 'zero')])
    expect(await wordsIn(database)).toEqual(['0 zero'])
    const config = {
      'pk.mode': 'kafka',
      'insert.mode': 'upsert',
      'auto.create': 'true',
      'table.name.format': 'by_offset',
    }
    const run = await sink(database, config)
    await run.put([record(1, 'a'), record(2, 'b')])
    await run.put([record(2, 'b', { offset: 1 })])
    expect(await database.run('SELECT * FROM by_offset ORDER BY 3')).toEqual([
      ['words', '0', '0', '1', 'a'],
      ['words', '0', '1', '2', 'b'],
    ])
  })

  it('creates tables whose keys distinguish case, and adds columns for new fields with their defaults', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const config = { ...UPSERT, 'pk.fields': '', 'auto.create': 'true', 'auto.evolve': 'true' }
    const run = await sink(database, { ...config, 'table.name.format': `${database.name}.\${topic}` })
    const key = struct('key', { region: STRING, id: INT64 })
    const keyed = (region: string, value: object, schema: Schema) =>
      record(1, null, { key: { region, id: 1n }, keySchema: key, value, valueSchema: schema })
    await run.put([keyed('eu', { word: 'a' }, struct('v', { word: STRING }))])
    const wider = struct('v', {
      ...{ word: STRING, rank: { ...INT64, default: 7 }, note: { ...STRING, default: 'none' } },
      ...{ tags: optional(array(STRING)), at: { ...TIMESTAMP, default: new Date(0) } },
    })
    await run.put([
      keyed('EU', { word: 'b', rank: 5, note: 'n', tags: ['x'], at: new Date(1) }, wider),
      keyed('us', { word: 'c', rank: null, note: null, tags: null, at: null }, wider),
    ])
    expect(await database.run('SELECT * FROM words ORDER BY word')).toEqual([
      ['eu', '1', 'a', '7', 'none', null, '1970-01-01 00:00:00.000'],
      ['EU', '1', 'b', '5', 'n', '["x"]', '1970-01-01 00:00:00.001'],
      ['us', '1', 'c', '7', 'none', null, '1970-01-01 00:00:00.000'],
    ])
  })

  it('creates and alters a table once if several tasks need it at the same time', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const config = { ...UPSERT, 'auto.create': 'true', 'auto.evolve': 'true' }
    const runs = await Promise.all(Array.from({ length: 4 }, () => sink(database, config)))
    await Promise.all(runs.map((run, task) => run.put([record(task, 'a')])))
    const wider = struct('word', { id: INT32, word: optional(STRING), a: optional(INT32), b: optional(INT32) })
    const own = { valueSchema: wider }
    await Promise.all(
      runs.map((run, task) => run.put([record(10 + task, 'a', { ...own, value: { id: 10 + task, b: 1 } })])),
    )
    expect(await wordsIn(database)).toHaveLength(8)
  })

  const SAMPLES: Readonly<Record<string, readonly [schema: Schema, value: unknown, read?: unknown]>> = {
    int8: [INT8, -128],
    int16: [INT16, 300],
    int32: [INT32, -(2 ** 31)],
    int64: [INT64, -(2n ** 63n)],
    float32: [FLOAT32, 1.5],
    float64: [FLOAT64, 1.7976931348623157e308],
    tenth: [FLOAT64, 0.1],
    boolean: [BOOLEAN, true, 1],
    string: [STRING, '"\'`\\%_\0\n\r\x1a;--縗😀'],
    bytes: [BYTES, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    decimal: [decimal(30), { unscaled: 10n ** 64n + 1n, scale: 30 }],
    date: [DATE, new Date('2026-02-28')],
    time: [TIME, 3_723_004],
    timestamp: [TIMESTAMP, new Date('2026-07-01T10:00:00.005Z')],
    array: [array(optional(INT32)), [1, null], '[1,null]'],
  }

  it('creates columns for all types, from which the source reads equal values', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const entries = Object.entries(SAMPLES)
    const schema = struct('all', Object.fromEntries(entries.map(([name, [type]]) => [name, type])))
    const value = Object.fromEntries(entries.map(([name, [, sample]]) => [name, sample]))
    const zone = { 'db.timezone': 'America/New_York', 'date.timezone': 'UTC' }
    const run = await sink(database, { 'auto.create': 'true', ...zone })
    await run.put([{ topic: 'all', value, valueSchema: schema }])
    const source = runSource(jdbcSource, { config: { ...database.config, mode: 'bulk', 'topic.prefix': '', ...zone } })
    onTestFinished(() => source.stop())
    const [record] = await source.take(1)
    const expected = entries.map(([name, [, sample, read = sample]]) => [name, read])
    expect(record!.value).toEqual(Object.fromEntries(expected))
  })

  const unit = fc.constantFrom("'", '\\', '"', '`', '\0', '\n', ';', '-- ', '/*', '縗', '\u00bf', '😀', '%', 'a')
  const HOSTILE = fc.sample(fc.string({ unit, maxLength: 20 }), { numRuns: 300, seed: 7 })

  it('stores any text unchanged, and no text becomes SQL', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      'CREATE TABLE words (id int PRIMARY KEY, word longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)',
    )
    const run = await sink(database, UPSERT)
    await run.put(HOSTILE.map((text, id) => record(id, text)))
    const rows = await database.run('SELECT word FROM words ORDER BY id')
    expect(rows.map(([word]) => word)).toEqual(HOSTILE)
  })

  it.each(['', 'NO_BACKSLASH_ESCAPES', 'ANSI', 'ORACLE'])(
    'has literals that are safe in the sql_mode %j',
    async (mode) => {
      const database = await createMysqlDatabase(mariadb.address)
      const session = await database.session(`sessionVariables=sql_mode='${mode}'`)
      const [row] = await session.query('read literals', `SELECT ${HOSTILE.map(textLiteral).join(', ')}`)
      expect(row).toEqual(HOSTILE)
    },
  )

  it('writes to columns of other types, and compares keys by the type of their column', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(
      `CREATE TABLE t (k varchar(20) PRIMARY KEY, e enum('sad', 'ok'), u uuid, j json, z timestamp(6) NULL, y year, b bit(8), \`Other\` int)`,
      "INSERT INTO t (k) VALUES ('1'), ('1abc'), ('01')",
    )
    const fields = { e: STRING, u: STRING, j: STRING, z: TIMESTAMP, y: DATE, b: BYTES, other: STRING }
    const uuid = '6a2f41a3-c54c-4cd2-ad35-6d8a3f0f23a9'
    const day = new Date('2026-02-28T12:00:00Z')
    const value = { e: 'ok', u: uuid, j: '[1]', z: new Date(1000), y: day, b: Buffer.from([5]), other: ' 7' }
    const config = { ...UPSERT, 'pk.fields': 'k', 'delete.enabled': 'true', 'db.timezone': 'Asia/Tokyo' }
    const run = await sink(database, config)
    const one = { topic: 't', key: 1, keySchema: INT32 }
    await run.put([{ ...one, value, valueSchema: struct('v', fields) }])
    const select = "SELECT k, e, u, j, z, y, b + 0, `Other` FROM t WHERE k = '1'"
    expect(await database.run(select)).toEqual([
      ['1', 'ok', uuid, '[1]', '1970-01-01 00:00:01.000000', '2026', '5', '7'],
    ])
    await run.put([{ ...one, value: null, valueSchema: null }])
    expect(await database.run('SELECT k FROM t ORDER BY k')).toEqual([['01'], ['1abc']])
  })

  it('rejects only the records that the server or a conversion rejects', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(TABLE, "INSERT INTO words VALUES (3, 'old')")
    const run = await sink(database)
    const ids = [0, 1, 2, 3, 4, 5, 6, 7]
    const wordOf = (id: number) => (id === 1 ? null : id === 5 ? 'x'.repeat(11) : 'a')
    await run.put(ids.map((id) => record(id, wordOf(id))))
    expect(await wordsIn(database)).toEqual(['0 a', '2 a', '3 old', '4 a', '6 a', '7 a'])
    expect(run.rejected.map(({ record: { key }, error }) => [key, error.message.replace(/^.*: /, '')])).toEqual([
      [1, expect.stringContaining("Column 'word' cannot be null [1048 23000]")],
      [3, expect.stringContaining("Duplicate entry '3'")],
      [5, expect.stringContaining("Data too long for column 'word'")],
    ])
    const numbers = await sink(database, { 'table.name.format': 'numbers', 'auto.create': 'true' })
    const of = (value: number) => ({ topic: 'n', value: { d: value }, valueSchema: struct('n', { d: FLOAT64 }) })
    await numbers.put([of(1), of(Number.NaN), of(2)])
    expect(await database.run('SELECT d FROM numbers ORDER BY d')).toEqual([['1'], ['2']])
  })

  it('writes each record exactly once with offsets.table, also with a concurrent writer and an aborted transaction', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run('CREATE TABLE words (id int, word varchar(3))')
    const config = { 'offsets.table': 'weir_offsets' }
    const [one, other] = [await sink(database, config), await sink(database, config)]
    const records = Array.from({ length: 10 }, (_, id) => record(id, id === 8 ? 'long' : 'a', { offset: id }))
    await one.put(records.slice(0, 6))
    await Promise.all([other.put(records.slice(3, 8)), one.put(records.slice(5, 10))])
    expect(await wordsIn(database)).toEqual(records.filter((_, id) => id !== 8).map(({ key }) => `${key} a`))
    expect(await database.run('SELECT * FROM weir_offsets')).toEqual([['test', 'words', '0', '10']])
    const again = await sink(database, config)
    await again.put(records)
    expect(await wordsIn(database)).toHaveLength(9)
    expect(again.rejected).toEqual([])
  })

  it('fails with a remedy for a missing table, a denied privilege and a column that may not be added', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    const run = await sink(database)
    await expect(run.put([record(1, 'a')])).rejects.toThrow('it does not exist; create it, or set auto.create=true')
    const user = database.name.slice(0, 20)
    await database.run(TABLE, `CREATE USER ${user} IDENTIFIED BY 'x'`, `GRANT SELECT ON ${database.name}.* TO ${user}`)
    onTestFinished(async () => void (await database.run(`DROP USER ${user}`)))
    const stranger = await sink(database, { 'connection.user': user, 'connection.password': 'x' })
    await expect(stranger.put([record(1, 'a')])).rejects.toThrow(/denied.*\[1142 42000\]; grant the privilege/)
    const extra = struct('word', { id: INT32, word: STRING, extra: optional(STRING) })
    await run.put([record(1, 'a', { value: { id: 1, word: 'a', extra: 'x' }, valueSchema: extra })])
    expect(run.rejected[0]!.error.message).toContain('has no column extra: add it, or set auto.evolve=true')
  })

  it('retries a batch whose transaction was the victim of a deadlock or whose connection was lost', async () => {
    const database = await createMysqlDatabase(mariadb.address)
    await database.run(TABLE, "INSERT INTO words VALUES (1, 'old')")
    const run = await sink(database, UPSERT)
    await run.put([record(2, 'b')])
    const sessions = `SELECT id FROM information_schema.processlist WHERE db = '${database.name}' AND id <> connection_id()`
    for (const [id] of await database.run(sessions)) await database.run(`KILL ${id}`)
    const attempt = () => run.put([record(1, 'new'), record(2, 'c')])
    await attempt().catch((error: Error) => {
      expect(error).toMatchObject({ name: 'RetriableError' })
      return attempt()
    })
    expect(await wordsIn(database)).toEqual(['1 new', '2 c'])
  })
})
