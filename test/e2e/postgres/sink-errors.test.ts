import { randomBytes } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { postgresSink } from '../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
import { INT32, optional, runSink, STRING, struct } from '../../../src/sdk/index.ts'
import { startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase, type Database } from '../../support/database.ts'

const postgres = await real('postgres')

const WORD = struct('word', { id: INT32, word: optional(STRING) })
const TABLE = 'CREATE TABLE words (id int PRIMARY KEY, word varchar(5) NOT NULL)'
const record = (id: number, word: string | null) => ({
  topic: 'words',
  key: id,
  keySchema: INT32,
  value: { id, word },
  valueSchema: WORD,
})

async function sink({ config }: Pick<Database, 'config'>, own: Readonly<Record<string, string>> = {}) {
  const patience = { 'connection.attempts': '1', 'retry.backoff.ms': '5' }
  const run = await runSink(postgresSink, { config: { ...config, ...patience, ...own } })
  onTestFinished(() => run.stop())
  return run
}

describeOn([postgres], 'errors of the PostgreSQL sink', () => {
  it('report at startup that the database cannot be reached', async () => {
    const database = await createDatabase(postgres.address.url)
    await expect(sink(database, { 'connection.password': 'wrong' })).rejects.toThrow(
      /password authentication failed.*; correct connection\.user and connection\.password/,
    )
    await expect(sink(database, { 'connection.url': 'jdbc:postgresql://nowhere.invalid/x' })).rejects.toThrow(
      /correct the host in connection\.url/,
    )
  })

  it('report missing tables, privileges and keys with a remedy', async () => {
    const database = await createDatabase(postgres.address.url)
    const run = await sink(database)
    await expect(run.put([record(1, 'a')])).rejects.toThrow(
      'could not write to the table words: it does not exist; create it, or set auto.create=true',
    )
    const role = database.name
    await database.run(`${TABLE}; CREATE ROLE ${role} LOGIN PASSWORD 'x'`)
    onTestFinished(async () => void (await database.run(`DROP ROLE ${role}`)))
    const stranger = await sink(database, { 'connection.user': role, 'connection.password': 'x' })
    await expect(stranger.put([record(1, 'a')])).rejects.toThrow(
      /permission denied for table words \[42501\]; grant the privilege/,
    )
    const keyless = await sink(database, { 'insert.mode': 'upsert', 'pk.mode': 'record_value', 'pk.fields': 'word' })
    await expect(keyless.put([record(1, 'a')])).rejects.toThrow(
      /\[42P10\]; give the table a primary key or unique constraint/,
    )
  })

  it('roll back the whole batch if a part of it cannot be written', async () => {
    const database = await createDatabase(postgres.address.url)
    const role = database.name
    await database.run(`${TABLE}; CREATE TABLE others (LIKE words); CREATE ROLE ${role} LOGIN PASSWORD 'x';
      GRANT INSERT ON words TO ${role}`)
    onTestFinished(async () => void (await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
    const run = await sink(database, { 'connection.user': role, 'connection.password': 'x' })
    const both = [record(1, 'a'), { ...record(2, 'b'), topic: 'others' }]
    await expect(run.put(both)).rejects.toThrow(/permission denied for table others/)
    expect(await database.run('SELECT id FROM words')).toEqual([])
    await database.run(`GRANT INSERT ON others TO ${role}`)
    await run.put(both)
    expect(await database.run('SELECT id FROM words UNION ALL SELECT id FROM others ORDER BY id')).toHaveLength(2)
  })

  it('report a record that cannot be converted also if a later one has its key, and create no table for it', async () => {
    const database = await createDatabase(postgres.address.url)
    const upsert = { 'insert.mode': 'upsert', 'pk.mode': 'record_key', 'pk.fields': 'id', 'auto.create': 'true' }
    const run = await sink(database, upsert)
    await run.put([record(1, 'a\0b')])
    expect(await database.run("SELECT to_regclass('words') AS found")).toEqual([{ found: null }])
    await run.put([record(2, 'a\0b'), record(2, 'c'), record(3, 'd')])
    const message = "field 'word': PostgreSQL cannot store a string that contains a NUL character"
    expect(run.rejected.map(({ record: { key }, error }) => [key, error.message])).toEqual([
      [1, message],
      [2, message],
    ])
    expect(await database.run('SELECT id, word FROM words ORDER BY id')).toEqual([
      { id: 2, word: 'c' },
      { id: 3, word: 'd' },
    ])
  })

  it('do not block other tasks if a task may not create the offsets table', async () => {
    const database = await createDatabase(postgres.address.url)
    const role = database.name
    await database.run(`${TABLE}; CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT INSERT ON words TO ${role}`)
    onTestFinished(async () => void (await database.run(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
    const offsets = { 'offsets.table': 'weir_offsets' }
    const stranger = await sink(database, { ...offsets, 'connection.user': role, 'connection.password': 'x' })
    await expect(stranger.put([record(1, 'a')])).rejects.toThrow(
      /could not create the offsets table: permission denied for schema public \[42501\]; grant the privilege/,
    )
    const others = await Promise.all([1, 2, 3, 4].map(() => sink(database, offsets)))
    await Promise.all(others.map((other, partition) => other.put([{ ...record(partition, 'a'), partition }])))
    expect(await database.run('SELECT id FROM words')).toHaveLength(4)
    await database.run(`GRANT ALL ON weir_offsets TO ${role}`)
    await stranger.put([{ ...record(9, 'a'), partition: 9 }])
    expect(await database.run('SELECT id FROM words')).toHaveLength(5)
  })

  it.each(['', 'weir_offsets'])(
    'reject only the invalid records of a batch, with offsets.table=%j',
    async (offsetsTable) => {
      const database = await createDatabase(postgres.address.url)
      await database.run(`${TABLE}; INSERT INTO words VALUES (3, 'old')`)
      const run = await sink(database, { 'offsets.table': offsetsTable })
      const wider = struct('word', { id: INT32, word: STRING, more: STRING })
      await run.put([
        record(1, 'a'),
        record(2, null),
        record(3, 'again'),
        record(4, 'too long'),
        record(5, 'b'),
        record(6, 'a\0b'),
        { topic: 'words', value: { id: 7, word: 'c' } },
        { ...record(8, 'd'), value: null, valueSchema: null },
        { ...record(9, 'e'), value: { id: 9, word: 'e', more: 'x' }, valueSchema: wider },
        record(10, 'f'),
      ])
      expect(run.rejected.map(({ record: { offset }, error }) => [offset, error.message])).toEqual([
        [1, expect.stringMatching(/null value in column "word".*\(column word of words\) \[23502\]/)],
        [2, expect.stringMatching(/duplicate key.*\(id\)=\(3\) already exists.*\[23505\]; set insert\.mode=upsert/)],
        [3, expect.stringMatching(/value too long for type character varying\(5\) \[22001\]/)],
        [5, "field 'word': PostgreSQL cannot store a string that contains a NUL character"],
        [6, expect.stringContaining('the value of the record has no schema')],
        [7, expect.stringContaining('the record has no value: set delete.enabled=true')],
        [8, 'the table words has no column more: add it, or set auto.evolve=true'],
      ])
      expect((await database.run('SELECT id FROM words ORDER BY id')).map(({ id }) => id)).toEqual([1, 3, 5, 10])
    },
  )

  it('reject only the record that exceeds a limit of the server', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run('CREATE TABLE words (id int PRIMARY KEY, word text UNIQUE)')
    const run = await sink(database)
    // Random, or it would be compressed.
    const oversized = randomBytes(20_000).toString('base64')
    await run.put([record(1, 'a'), record(2, oversized), record(3, 'c')])
    expect(run.rejected.map(({ record: { offset }, error }) => [offset, error.message])).toEqual([
      [1, expect.stringMatching(/: index row .* maximum .* \[54000\]$/)],
    ])
    expect((await database.run('SELECT id FROM words ORDER BY id')).map(({ id }) => id)).toEqual([1, 3])
  })

  it('reject a record whose required field has no column, instead of adding it', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run('CREATE TABLE words (id int)')
    const run = await sink(database, { 'auto.evolve': 'true' })
    const strict = struct('word', { id: INT32, word: STRING })
    await run.put([{ ...record(1, 'a'), valueSchema: strict }])
    expect(run.rejected[0]?.error.message).toMatch(/has no column word, and it cannot be added: the field is required/)
  })

  it('are retried if the connection is lost, also in the middle of a batch', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`${TABLE}; CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN IF NEW.id = 2 AND NOT EXISTS (SELECT FROM pg_tables WHERE tablename = ''cut'') THEN PERFORM pg_sleep(60); END IF; RETURN NEW; END';
      CREATE TRIGGER slow BEFORE INSERT ON words FOR EACH ROW EXECUTE FUNCTION slow()`)
    const run = await sink(database, { 'offsets.table': 'weir_offsets' })
    await run.put([record(0, 'a')])
    const cut = run.put([record(1, 'b'), record(2, 'c')]).catch((error: unknown) => error)
    const asleep = "FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    await expect.poll(() => database.run(`SELECT pid ${asleep}`)).toHaveLength(1)
    await database.run(`CREATE TABLE cut (); SELECT pg_terminate_backend(pid) ${asleep}`)
    expect(await cut).toMatchObject({ code: 'retriable', retryAfterMs: 5, message: expect.stringContaining('[57P01]') })
    await run.put([1, 2].map((id) => ({ ...record(id, 'b'), offset: id })))
    expect((await database.run('SELECT id FROM words ORDER BY id')).map(({ id }) => id)).toEqual([0, 1, 2])
  })

  it('fail the task after max.retries if the server remains unavailable', async () => {
    const server = await startPostgres()
    onTestFinished(() => server.stop())
    const database = await createDatabase(server.url, () => undefined)
    await database.run(TABLE)
    const run = await sink(database, { 'max.retries': '2' })
    await server.crash()
    const attempt = () => run.put([record(1, 'a')]).catch((error: { code?: string }) => error.code ?? 'gave up')
    expect(await attempt()).toBe('retriable')
    await server.restart()
    await run.put([record(1, 'a')])
    await server.crash()
    expect([await attempt(), await attempt(), await attempt()]).toEqual(['retriable', 'retriable', 'gave up'])
  })
})
