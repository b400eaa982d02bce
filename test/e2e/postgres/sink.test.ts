import { expect, it, onTestFinished } from 'vitest'
import { postgresSink } from '../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
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
  map,
  optional,
  runSink,
  type Schema,
  STRING,
  struct,
  TIME,
  TIMESTAMP,
  UNRESTRICTED,
} from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

async function sink(database: Database, config: Readonly<Record<string, string>> = {}) {
  const run = await runSink(postgresSink, { config: { ...database.config, ...config } })
  onTestFinished(() => run.stop())
  return run
}

const WORD = struct('word', { id: INT32, word: optional(STRING) })

function record(id: number, word: string | null, own: Partial<HarnessRecord> = {}): HarnessRecord {
  return { topic: 'words', key: id, keySchema: INT32, value: { id, word }, valueSchema: WORD, ...own }
}

const tombstone = (id: number) => record(id, null, { value: null, valueSchema: null })
const TABLE = 'CREATE TABLE words (id int PRIMARY KEY, word varchar(10) NOT NULL)'
const wordsIn = async (database: Database) => {
  const rows = await database.run('SELECT id, word FROM words ORDER BY id')
  return rows.map(({ id, word }) => `${id} ${word}`)
}
const BY_KEY = { 'pk.mode': 'record_key', 'pk.fields': 'id' }
const UPSERT = { 'insert.mode': 'upsert', ...BY_KEY }

describeOn([postgres], 'the PostgreSQL sink', () => {
  it('inserts rows, in several statements if there are more than batch.size', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(TABLE)
    const run = await sink(database, { 'batch.size': '3' })
    await run.put(Array.from({ length: 10 }, (_, id) => record(id, `w${id}`)))
    expect(await wordsIn(database)).toEqual(Array.from({ length: 10 }, (_, id) => `${id} w${id}`))
  })

  it('upserts rows with the last record of each key, also within a batch', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; INSERT INTO words VALUES (1, 'old')`)
    const run = await sink(database, UPSERT)
    await run.put([record(1, 'a'), record(2, 'b'), record(1, 'c')])
    await run.put([record(2, 'd'), record(3, 'e')])
    expect(await wordsIn(database)).toEqual(['1 c', '2 d', '3 e'])
  })

  it('updates existing rows only', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; INSERT INTO words VALUES (1, 'old'), (2, 'old')`)
    const run = await sink(database, { 'insert.mode': 'update', 'pk.mode': 'record_value', 'pk.fields': 'id' })
    await run.put([record(1, 'a'), record(3, 'b'), record(1, 'c')])
    expect(await wordsIn(database)).toEqual(['1 c', '2 old'])
  })

  it('deletes rows for tombstones, in the order of the records', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; INSERT INTO words VALUES (1, 'old'), (2, 'old'), (3, 'old')`)
    const run = await sink(database, { ...UPSERT, 'delete.enabled': 'true' })
    await run.put([tombstone(1), record(4, 'a'), tombstone(4), tombstone(2), record(2, 'again'), tombstone(9)])
    expect(await wordsIn(database)).toEqual(['2 again', '3 old'])
    await run.put([tombstone(3)])
    expect(await wordsIn(database)).toEqual(['2 again'])
  })

  it('writes one row per topic, partition and offset with pk.mode=kafka', async () => {
    const database = await createDatabase(postgres.address.url)
    const run = await sink(database, { 'pk.mode': 'kafka', 'insert.mode': 'upsert', 'auto.create': 'true' })
    await run.put([record(1, 'a'), record(2, 'b')])
    await run.put([record(2, 'b', { offset: 1 })])
    expect(await database.run('SELECT * FROM words ORDER BY 3')).toEqual([
      { __connect_topic: 'words', __connect_partition: 0, __connect_offset: '0', id: 1, word: 'a' },
      { __connect_topic: 'words', __connect_partition: 0, __connect_offset: '1', id: 2, word: 'b' },
    ])
  })

  it('uses fields of structs as the key, and writes only the configured fields', async () => {
    const database = await createDatabase(postgres.address.url)
    const key = struct('key', { region: STRING, id: INT64 })
    const config = {
      ...UPSERT,
      'pk.fields': '',
      'fields.whitelist': 'word',
      'auto.create': 'true',
      'table.name.format': 'kept_${topic}',
    }
    const run = await sink(database, config)
    await run.put([record(1, 'a', { key: { region: 'eu', id: 2n ** 60n }, keySchema: key })])
    expect(await database.run('SELECT * FROM kept_words')).toEqual([{ region: 'eu', id: String(2n ** 60n), word: 'a' }])
  })

  it('creates a table and adds columns for the fields of records', async () => {
    const database = await createDatabase(postgres.address.url)
    const run = await sink(database, {
      ...UPSERT,
      'auto.create': 'true',
      'auto.evolve': 'true',
      'table.name.format': 'public.${topic}',
    })
    await run.put([record(1, 'a')])
    const wider = struct('word', {
      id: INT32,
      word: optional(STRING),
      rank: { ...INT64, default: 7 },
      tags: optional(array(STRING)),
    })
    await run.put([
      record(2, 'b', { value: { id: 2, word: 'b', rank: 5, tags: ['x'] }, valueSchema: wider }),
      record(3, 'c'),
    ])
    expect(await database.run('SELECT * FROM words ORDER BY id')).toEqual([
      { id: 1, word: 'a', rank: '7', tags: null },
      { id: 2, word: 'b', rank: '5', tags: ['x'] },
      { id: 3, word: 'c', rank: '7', tags: null },
    ])
    await expect(database.run('INSERT INTO words (id) VALUES (1)')).rejects.toThrow('duplicate key')
  })

  it('creates a table once if several tasks need it at the same time', async () => {
    const database = await createDatabase(postgres.address.url)
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => sink(database, { ...UPSERT, 'auto.create': 'true' })),
    )
    await Promise.all(runs.map((run, task) => run.put([record(task, 'a')])))
    expect(await wordsIn(database)).toHaveLength(4)
  })

  it.each<{ type: string; schema: Schema; value: unknown; text: string }>([
    { type: 'smallint', schema: INT8, value: -128, text: '-128' },
    { type: 'smallint', schema: INT16, value: 300, text: '300' },
    { type: 'integer', schema: INT32, value: 2 ** 31 - 1, text: '2147483647' },
    { type: 'bigint', schema: INT64, value: -(2n ** 63n), text: '-9223372036854775808' },
    { type: 'real', schema: FLOAT32, value: Math.fround(0.1), text: '0.1' },
    { type: 'double precision', schema: FLOAT64, value: Number.NaN, text: 'NaN' },
    { type: 'boolean', schema: BOOLEAN, value: false, text: 'false' },
    { type: 'text', schema: STRING, value: 'a"b\\c,{}\nNULL', text: 'a"b\\c,{}\nNULL' },
    { type: 'bytea', schema: BYTES, value: Buffer.from([0, 92, 255]), text: '\\x005cff' },
    { type: 'numeric', schema: decimal(2), value: { unscaled: -1250n, scale: 2 }, text: '-12.50' },
    { type: 'date', schema: DATE, value: new Date('2026-02-28'), text: '2026-02-28' },
    { type: 'time without time zone', schema: TIME, value: 3_723_004, text: '01:02:03.004' },
    { type: 'timestamp without time zone', schema: TIMESTAMP, value: new Date(5), text: '1970-01-01 00:00:00.005' },
    { type: 'timestamp without time zone', schema: TIMESTAMP, value: new Date(8.64e15), text: 'infinity' },
    { type: 'integer[]', schema: array(optional(INT32)), value: [1, null], text: '{1,NULL}' },
    { type: 'text[]', schema: array(STRING), value: ['a,b', '"', ''], text: '{"a,b","\\"",""}' },
    {
      type: 'integer[]',
      schema: array(array(INT32)),
      value: [
        [1, 2],
        [3, 4],
      ],
      text: '{{1,2},{3,4}}',
    },
    {
      type: 'jsonb',
      schema: struct('s', { a: INT32, b: decimal(1) }),
      value: { a: 1, b: { unscaled: 5n, scale: 1 } },
      text: '{"a": 1, "b": 0.5}',
    },
    { type: 'jsonb', schema: map(STRING, INT32), value: new Map([['k', 1]]), text: '{"k": 1}' },
  ])(
    'creates and writes a column of type $type for $schema.type $schema.name',
    async ({ type, schema, value, text }) => {
      const database = await createDatabase(postgres.address.url)
      const run = await sink(database, { 'auto.create': 'true' })
      await run.put([{ topic: 't', value: { c: value }, valueSchema: struct('v', { c: schema }) }])
      expect(await database.run('SELECT pg_typeof(c)::text AS type, c::text AS text FROM t')).toEqual([{ type, text }])
    },
  )

  it('writes columns of types that have no Connect schema', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE TYPE mood AS ENUM ('sad', 'ok');
      CREATE TABLE t (e mood, u uuid, j json, z timestamptz, n char(3), b bit(3), "Other" int)`)
    const schema = struct('v', { e: STRING, u: STRING, j: STRING, z: TIMESTAMP, n: STRING, b: STRING, other: STRING })
    const run = await sink(database, { 'db.timezone': 'Europe/Berlin' })
    const uuid = '6a2f41a3-c54c-4cd2-ad35-6d8a3f0f23a9'
    await run.put([
      {
        topic: 't',
        valueSchema: schema,
        value: { e: 'ok', u: uuid, j: '[1]', z: new Date(0), n: 'a', b: '101', other: '7' },
      },
    ])
    expect(await database.run('SELECT e, u, j, z, n, b::text, "Other" FROM t')).toEqual([
      { e: 'ok', u: uuid, j: [1], z: new Date(0), n: 'a  ', b: '101', Other: 7 },
    ])
  })

  it('writes timestamps in db.timezone, numeric timestamps, plain strings and default values', async () => {
    const database = await createDatabase(postgres.address.url)
    const config = { 'auto.create': 'true', 'db.timezone': 'Europe/Berlin', 'timestamp.fields.list': 'micros' }
    const run = await sink(database, config)
    const schema = struct('v', { at: TIMESTAMP, micros: INT64, word: { ...STRING, default: "it's" } })
    await run.put([{ topic: 'a', valueSchema: schema, value: { at: new Date(0), micros: 5, word: null } }])
    expect(await database.run('SELECT at::text, micros::text, word FROM a')).toEqual([
      { at: '1970-01-01 01:00:00', micros: '1970-01-01 01:00:00.000005', word: "it's" },
    ])
    const texts = await sink(database, { 'auto.create': 'true' })
    await texts.put([{ topic: 'b', valueSchema: STRING, value: 'alone' }])
    expect(await database.run('SELECT * FROM b')).toEqual([{ record_value: 'alone' }])
  })

  it('writes each record exactly once with offsets.table, also with a concurrent writer', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run('CREATE TABLE words (id int, word text)')
    const config = { 'offsets.table': 'weir_offsets' }
    const [one, other] = [await sink(database, config), await sink(database, config)]
    const records = Array.from({ length: 10 }, (_, id) => record(id, 'a', { offset: id }))
    await one.put(records.slice(0, 6))
    await other.put(records.slice(3, 8))
    await one.put(records.slice(5, 10))
    expect(await wordsIn(database)).toEqual(records.map(({ key }) => `${key} a`))
    expect(await database.run('SELECT * FROM weir_offsets')).toEqual([
      { connector: 'test', topic: 'words', partition: 0, next_offset: '10' },
    ])
  })

  it.each([
    ['COMMIT', ['2 a', '3 a', '4 a']],
    ['ROLLBACK', ['0 a', '1 a', '2 a', '3 a', '4 a']],
  ])('with offsets.table, waits for the %s of a transaction with the same partition', async (end, written) => {
    const database = await createDatabase(postgres.address.url)
    await database.run('CREATE TABLE words (id int, word text)')
    const run = await sink(database, { 'offsets.table': 'weir_offsets' })
    const records = [0, 1, 2, 3, 4].map((id) => record(id, 'a', { offset: id }))
    await run.put([record(0, 'b', { partition: 1 })])
    await database.run("DELETE FROM words; INSERT INTO weir_offsets VALUES ('test', 'words', 0, 0)")
    const other = await database.client()
    onTestFinished(() => other.end())
    await other.query('BEGIN; UPDATE weir_offsets SET next_offset = 2 WHERE partition = 0')
    const putting = run.put(records)
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await expect.poll(() => database.run(waiting)).toHaveLength(1)
    await other.query(end)
    await putting
    expect(await wordsIn(database)).toEqual(written)
    expect(run.rejected).toEqual([])
    expect(await database.run('SELECT partition, next_offset FROM weir_offsets ORDER BY partition')).toEqual([
      { partition: 0, next_offset: '5' },
      { partition: 1, next_offset: '1' },
    ])
  })

  it('writes each record exactly once with offsets.table if two tasks write some of the partitions at once', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run('CREATE TABLE words (id int, word text)')
    const config = { 'offsets.table': 'weir_offsets' }
    const tasks = [await sink(database, config), await sink(database, config)]
    // In opposite orders, with which two tasks would wait for each other.
    const orders = [
      [0, 1, 2, 3, 4, 5],
      [8, 7, 6, 5, 4, 3, 2],
    ]
    for (let offset = 0; offset < 60; offset += 3) {
      const batch = (partition: number) =>
        [0, 1, 2].map((at) => record(partition * 100 + offset + at, 'a', { partition, offset: offset + at }))
      await Promise.all(tasks.map((task, index) => task.put(orders[index]!.flatMap(batch))))
    }
    const expected = Array.from({ length: 9 * 60 }, (_, at) => `${Math.trunc(at / 60) * 100 + (at % 60)} a`)
    expect(await wordsIn(database)).toEqual(expected)
    expect(await database.run('SELECT DISTINCT next_offset FROM weir_offsets')).toEqual([{ next_offset: '60' }])
  })

  it('locks the offsets in offsets.table in the order of the partitions', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run('CREATE TABLE words (id int, word text)')
    const run = await sink(database, { 'offsets.table': 'weir_offsets' })
    const batch = [3, 2, 1, 0].map((partition) => record(partition, 'a', { partition }))
    await run.put(batch)
    const other = await database.client()
    onTestFinished(() => other.end())
    await other.query('BEGIN; SELECT FROM weir_offsets WHERE partition = 0 FOR UPDATE')
    const putting = run.put(batch.map((one) => ({ ...one, offset: 1 })))
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    await expect.poll(() => database.run(waiting)).toHaveLength(1)
    const unlocked = await database.run('SELECT partition FROM weir_offsets ORDER BY partition FOR UPDATE SKIP LOCKED')
    expect(unlocked.map(({ partition }) => partition)).toEqual([1, 2, 3])
    await other.query('COMMIT')
    await putting
  })

  it('does not report a rejected record again when it receives the record again, with offsets.table', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(TABLE)
    const run = await sink(database, { ...UPSERT, 'offsets.table': 'weir_offsets' })
    const words = ['a', 'too long for it', 'b', 'a\0b', 'c']
    const records = words.map((word, id) => record(id, word, { offset: id }))
    const rejectedIds = () => run.rejected.map(({ record: { key } }) => key)
    await run.put(records)
    expect(rejectedIds()).toEqual([1, 3])
    for (const again of [records, records.slice(1, 2), records.slice(3, 4)]) await run.put(again)
    expect(rejectedIds()).toEqual([1, 3])
    expect(await wordsIn(database)).toEqual(['0 a', '2 b', '4 c'])
    expect(await database.run('SELECT next_offset FROM weir_offsets')).toEqual([{ next_offset: '5' }])
  })

  it('writes nothing whose offset was deleted from offsets.table', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(TABLE)
    const run = await sink(database, { 'offsets.table': 'weir_offsets' })
    await run.put([record(0, 'a', { offset: 0 })])
    await database.run('DELETE FROM weir_offsets')
    await expect(run.put([record(1, 'b', { offset: 1 })])).rejects.toThrow(
      /^the offset of partition 0 of topic 'words' was deleted from "weir_offsets" while the task was running; restart the task/,
    )
    expect(await wordsIn(database)).toEqual(['0 a'])
  })

  it('resumes from the offsets in offsets.table', async () => {
    const database = await createDatabase(postgres.address.url)
    const config = { ...database.config, 'offsets.table': 'public.kept', 'auto.create': 'true' }
    const run = await sink(database, config)
    await run.put([record(1, 'a', { partition: 3, offset: 41 })])
    const context = {
      connector: 'test',
      task: 0,
      raw: config,
      signal: new AbortController().signal,
      requestCommit() {},
      seek() {},
      setPausedPartitions() {},
      committedOffsets: async () => [],
      commitOffsets: async () => {},
      groupMember: () => ({ groupId: 'connect-test', memberId: 'test', generation: 1 }),
    }
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const parsed = postgresSink.config.parse(config)
    const task = await postgresSink.start({
      ...context,
      ...UNRESTRICTED,
      log,
      config: parsed,
      reject: async () => {},
      report: async () => {},
    })
    const partitions = [2, 3].map((partition) => ({ topic: 'words', partition }))
    expect(await task.open?.(partitions)).toEqual([{ topic: 'words', partition: 3, offset: 42 }])
    await task.stop?.()
  })
})
