import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import type { Position, SourceRecord, TaskLog } from '../../../src/sdk/index.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { lastOffset, PREFIX, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { randomOf } from '../../support/hostile-requests.ts'
import { ReplayedTables } from '../../support/replayed-tables.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const postgres = await real('postgres')
const ROWS = 1_000

let server: Postgres
beforeAll(async () => {
  server = await startPostgres({ wal_level: 'logical' })
})
afterAll(() => server?.stop())

const TABLES = `
  CREATE TABLE signals (id text PRIMARY KEY, type text, data text);
  CREATE TABLE orders (id int, shop text, n int, PRIMARY KEY (shop, id));
  CREATE TABLE keyless (n int);
  CREATE SEQUENCE s;
  CREATE TABLE finish (id int PRIMARY KEY);
  INSERT INTO orders SELECT i, 'shop ' || i % 3, 0 FROM generate_series(1, ${ROWS}) i;
  INSERT INTO keyless SELECT generate_series(1, 10)`

const CONFIG = {
  'signal.data.collection': 'public.signals',
  'incremental.snapshot.chunk.size': '50',
  'max.batch.size': '40',
}

type Warning = { readonly fields: object; readonly message: string }

async function startSource(config: Readonly<Record<string, string>> = {}, offset?: Position, at?: Database) {
  const database = at ?? (await createDatabase(server.url))
  if (at === undefined) await database.run(TABLES)
  const warnings: Warning[] = []
  const log: TaskLog = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => void warnings.push({ fields, message }),
    error: () => {},
  }
  const source = await startCdcSource(database, { config: { ...CONFIG, ...config }, offset, log })
  return { database, source, warnings }
}

const signal = (database: Database, id: string, type: string, data: unknown) =>
  database.run('INSERT INTO signals VALUES ($1, $2, $3)', [
    id,
    type,
    typeof data === 'string' ? data : JSON.stringify(data),
  ])

/** Takes records until that of the row of the table `finish`. */
async function takeToFinish(
  { take }: { readonly take: (count: number) => Promise<readonly SourceRecord[]> },
  database: Database,
  topic: SourceRecord[],
  id = 1,
): Promise<void> {
  await database.run('INSERT INTO finish VALUES ($1)', [id])
  const isFinish = (record: SourceRecord | undefined) =>
    record?.topic === `${PREFIX}.public.finish` && (record.key as { id: number }).id === id
  while (!isFinish(topic.at(-1))) topic.push(...(await take(1)))
}

const readsOf = (topic: readonly SourceRecord[], table = 'orders') =>
  topic
    .filter(({ topic: name }) => name === `${PREFIX}.public.${table}`)
    .map(({ value }) => value as { op: string; after: { id: number; n: number }; source: { snapshot: string } } | null)
    .filter((value) => value?.op === 'r')

async function expectEqual(database: Database, topic: readonly SourceRecord[]): Promise<void> {
  const [replayed, expected] = [new ReplayedTables(), new ReplayedTables()]
  replayed.apply(topic)
  const rows = await database.run('SELECT * FROM orders')
  expected.apply(
    rows.map((after) => ({ topic: '', key: [after['shop'], after['id']], value: { op: 'r', after } }) as never),
  )
  expect(replayed.rows(`${PREFIX}.public.orders`)).toEqual(expected.rows(''))
}

/** Changes rows until it is stopped. */
async function startWriter(database: Database): Promise<() => Promise<void>> {
  const client: pg.Client = await database.client()
  const random = randomOf(3)
  let isStopped = false
  const run = async () => {
    for (let n = 1; !isStopped; n += 1) {
      const id = 1 + Math.floor(random() * ROWS)
      const statements = [
        `UPDATE orders SET n = ${n} WHERE id = ${id}`,
        `DELETE FROM orders WHERE id = ${id}`,
        `INSERT INTO orders VALUES (${id}, 'new', ${n}) ON CONFLICT (shop, id) DO UPDATE SET n = ${n}`,
        `UPDATE orders SET shop = 'moved ${n}' WHERE id = ${id} AND shop = 'shop ${id % 3}'`,
      ]
      await client.query(statements[Math.floor(random() * statements.length)]!)
    }
    await client.end()
  }
  const done = run()
  done.catch(() => undefined)
  const stop = () => {
    isStopped = true
    return done
  }
  // The database cannot be dropped while this client writes to it, also when the test fails before it calls `stop`.
  onTestFinished(stop)
  return stop
}

const EXECUTE = { 'data-collections': ['public.orders'], type: 'incremental' }

describeOn([postgres], 'an incremental snapshot', () => {
  it.each([
    ['with watermarks', {}, ['snapshot-window-close', 'snapshot-window-open']],
    // A source that is killed leaves the row that it would have deleted.
    [
      'with watermarks that are deleted',
      { 'incremental.snapshot.watermarking.strategy': 'insert_delete' },
      ['snapshot-window-open'],
    ],
    ['read-only', { 'read.only': 'true' }, []],
  ])(
    'leaves a topic that is equal to the table, while rows change and the source is killed, %s',
    async (_, config, types) => {
      const started = await startSource(config)
      const { database } = started
      let { source } = started
      const stopWriter = await startWriter(database)
      await signal(database, 'ad-hoc', 'execute-snapshot', EXECUTE)
      const [topic, random]: [SourceRecord[], () => number] = [[], randomOf(5)]
      let stored: Position | undefined
      for (let kill = 0; kill < 3; kill += 1) {
        const taken = await source.take(100 + Math.floor(random() * 300))
        topic.push(...taken)
        stored = lastOffset(taken.slice(0, Math.floor(random() * (taken.length + 1)))) ?? stored
        await source.stop()
        source = (await startSource(config, stored ?? {}, database)).source
      }
      const isReadingAt = (offset: Position | undefined) => offset?.['incremental_snapshot_collections'] !== undefined
      // The writer may have written hundreds of changes before the signal, which are delivered first.
      let hasBegun = isReadingAt(stored)
      do {
        topic.push(...(await source.take(1)))
        hasBegun ||= isReadingAt(lastOffset(topic))
      } while (!hasBegun || isReadingAt(lastOffset(topic)))
      await stopWriter()
      await takeToFinish(source, database, topic)
      await expectEqual(database, topic)
      expect(readsOf(topic).length).toBeGreaterThan(ROWS / 3)
      expect(new Set(readsOf(topic).map((value) => value!.source.snapshot))).toEqual(new Set(['incremental']))
      const written = await database.run("SELECT DISTINCT type FROM signals WHERE type <> 'execute-snapshot'")
      expect(types).toEqual(expect.arrayContaining(written.map(({ type }) => type)))
      if (!('incremental.snapshot.watermarking.strategy' in config)) expect(written).toHaveLength(types.length)
    },
  )

  it('is requested, paused and resumed by records of the signal topic, whose position survives a kill', async () => {
    const config = { 'signal.enabled.channels': 'kafka', 'signal.poll.interval.ms': '20', 'read.only': 'true' }
    const { database, source } = await startSource(config)
    const produce = ({ produce: to }: typeof source, type: string, data: unknown, key = PREFIX) =>
      to(`${PREFIX}-signal`, key, JSON.stringify({ type, data }))
    produce(source, 'execute-snapshot', EXECUTE, 'another connector')
    produce(source, 'execute-snapshot', EXECUTE)
    produce(source, 'pause-snapshot', {})
    const advanced = (run: typeof source) => run.advanced.at(-1)?.offset ?? {}
    while (advanced(source)['signal_kafka_offset'] !== 3) await source.nextBatch()
    expect(advanced(source)).toMatchObject({ incremental_snapshot_paused: true })
    await source.stop()

    const next = (await startSource(config, advanced(source), database)).source
    const topic: SourceRecord[] = []
    await takeToFinish(next, database, topic)
    expect(readsOf(topic), 'rows while the snapshot is paused').toEqual([])
    // The topic is that of this run: the records that were executed before are not in it.
    for (let n = 0; n < 3; n += 1) produce(next, 'drop-everything', {})
    produce(next, 'resume-snapshot', {})
    while (readsOf(topic).length < ROWS) topic.push(...(await next.take(1)))
    while (advanced(next)['incremental_snapshot_collections'] !== undefined) topic.push(...(await next.nextBatch()))
    await expectEqual(database, topic)
    expect(lastOffset(topic)).toMatchObject({ signal_kafka_offset: 4 })
  })

  it('is paused, resumed and stopped by signals of the file, which may restrict its rows', async () => {
    const file = join(temporaryDirectory(), 'signals.txt')
    const { database, source } = await startSource({
      'signal.enabled.channels': 'file',
      'signal.file': file,
      'signal.poll.interval.ms': '20',
    })
    const send = (type: string, data: unknown) => appendFile(file, `${JSON.stringify({ id: 'f', type, data })}\n`)
    const topic: SourceRecord[] = []
    const conditions = [{ 'data-collection': 'public.orders', filter: 'id <= 500' }]
    await send('execute-snapshot', { ...EXECUTE, 'additional-conditions': conditions })
    topic.push(...(await source.take(100)))
    await send('pause-snapshot', {})
    const isPaused = () => source.advanced.at(-1)?.offset['incremental_snapshot_paused'] === true
    while (!isPaused()) topic.push(...(await source.nextBatch()))
    await takeToFinish(source, database, topic)
    const paused = readsOf(topic).length
    expect(paused).toBeLessThan(500)
    await send('resume-snapshot', {})
    while (readsOf(topic).length < 500) topic.push(...(await source.take(1)))
    expect(readsOf(topic).every((value) => value!.after.id <= 500)).toBe(true)
    await send('execute-snapshot', { ...EXECUTE, 'surrogate-key': 'id' })
    topic.push(...(await source.take(50)))
    await send('stop-snapshot', { 'data-collections': ['public.o.*'] })
    const isRunning = () => source.advanced.at(-1)?.offset['incremental_snapshot_collections'] !== undefined
    while (isRunning()) topic.push(...(await source.nextBatch()))
    await takeToFinish(source, database, topic, 2)
    expect(readsOf(topic).length).toBeLessThan(500 + ROWS)
  })

  it.each([
    ['has other columns', 'ALTER TABLE orders DROP CONSTRAINT orders_pkey, ADD PRIMARY KEY (n, id)'],
    ['has other types, by which 102 is before 99', 'ALTER TABLE orders ALTER id TYPE text'],
  ])('reads the table again when its key %s', async (_change, sql) => {
    const { database, source } = await startSource({ 'incremental.snapshot.chunk.size': '33' })
    await signal(database, 'first', 'execute-snapshot', EXECUTE)
    const topic: SourceRecord[] = []
    while (readsOf(topic).length < 33) topic.push(...(await source.take(1)))
    await signal(database, 'pause', 'pause-snapshot', {})
    const isPaused = () => source.advanced.at(-1)?.offset['incremental_snapshot_paused'] === true
    while (!isPaused()) topic.push(...(await source.nextBatch()))
    await database.run(sql)
    await signal(database, 'resume', 'resume-snapshot', {})
    const ids = () => new Set(readsOf(topic).map((value) => String(value!.after.id)))
    while (ids().size < ROWS) topic.push(...(await source.take(1)))
  })

  it('reads no partitions as tables of their own if their changes are those of the root', async () => {
    const { database, source } = await startSource({ 'publish.via.partition.root': 'true' })
    await database.run(`CREATE TABLE parts (id int PRIMARY KEY, n int) PARTITION BY RANGE (id);
      CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (10); INSERT INTO parts VALUES (1, 0), (2, 0)`)
    await signal(database, 'parts', 'execute-snapshot', { 'data-collections': ['public.parts.*'] })
    const topic: SourceRecord[] = []
    while (readsOf(topic, 'parts').length < 2) topic.push(...(await source.take(1)))
    const isRunning = () => source.advanced.at(-1)?.offset['incremental_snapshot_collections'] !== undefined
    while (isRunning()) topic.push(...(await source.nextBatch()))
    expect(readsOf(topic, 'parts').map((value) => value!.after.id)).toEqual([1, 2])
    expect(readsOf(topic, 'parts_low')).toEqual([])
  })

  it('reads all rows if several have the same value of the surrogate key', async () => {
    const { database, source } = await startSource()
    await signal(database, 'by shop', 'execute-snapshot', { ...EXECUTE, 'surrogate-key': 'shop' })
    const topic: SourceRecord[] = []
    while (readsOf(topic).length < ROWS) topic.push(...(await source.take(1)))
    expect(new Set(readsOf(topic).map((value) => value!.after.id)).size).toBe(ROWS)
  })

  it('of type blocking reads the rows that the SELECT statement of its signal returns', async () => {
    const { database, source } = await startSource()
    await database.run('UPDATE orders SET n = 1 WHERE id = 1000')
    const topic: SourceRecord[] = [...(await source.take(1))]
    await signal(database, 'now', 'execute-snapshot', blocking('SELECT * FROM orders WHERE id > 990 -- a comment'))
    while (readsOf(topic).length < 10) topic.push(...(await source.take(1)))
    await takeToFinish(source, database, topic)
    expect(
      readsOf(topic)
        .map((value) => value!.after.id)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 10 }, (_, index) => 991 + index))
    expect(readsOf(topic).at(-1)!.source.snapshot).toBe('last')
    // The rows are later than the changes that were delivered before them.
    const lsns = topic.map(({ value }) => Number((value as { source: { lsn: number } }).source.lsn))
    expect(Math.min(...lsns.slice(1))).toBeGreaterThan(lsns[0]!)
  })
})

/** A snapshot that interrupts the changes and reads what the statement selects. */
const blocking = (filter: string) => ({
  ...EXECUTE,
  type: 'blocking',
  'additional-conditions': [{ 'data-collection': 'public.orders', filter }],
})

describeOn([postgres], 'a signal that is wrong', () => {
  it('is logged as a warning with its id, and does not stop the capture of changes', async () => {
    const { database, source, warnings } = await startSource()
    onTestFinished(() => source.stop())
    const wrong: readonly (readonly [string, unknown, RegExp])[] = [
      ['execute-snapshot', '{"data-collections', /no JSON/],
      ['drop-everything', {}, /not supported/],
      ['execute-snapshot', { 'data-collections': ['('] }, /no regular expression/],
      ['execute-snapshot', { 'data-collections': ['public.unknown'] }, /not captured/],
      ['execute-snapshot', { 'data-collections': ['public.keyless'] }, /no key/],
      ['execute-snapshot', { ...EXECUTE, 'surrogate-key': 'x"; DROP TABLE orders; --' }, /no column/],
      [
        'execute-snapshot',
        { ...EXECUTE, 'additional-condition': '1 = 1); DROP TABLE orders; --' },
        /multiple commands/,
      ],
      [
        'execute-snapshot',
        { ...EXECUTE, 'additional-condition': 'pg_sleep(0) IS NULL OR 1/0 = 1' },
        /division by zero/,
      ],
      [
        'execute-snapshot',
        {
          ...EXECUTE,
          'additional-condition': 'set_config($$search_path$$, $$x$$, true) IS NULL OR nextval($$s$$) = 0',
        },
        /read-only transaction/,
      ],
      [
        'execute-snapshot',
        blocking(`SELECT 1, 'x', 1) AS selected) TO PROGRAM 'touch ${join(temporaryDirectory(), 'executed')}' --`),
        /syntax error/,
      ],
      ['execute-snapshot', blocking('SELECT * FROM orders; DROP TABLE orders'), /syntax error/],
      ['execute-snapshot', blocking('SELECT id FROM orders'), /does not exist/],
      ['execute-snapshot', blocking('SELECT id / 0 AS id, shop, n FROM orders'), /division by zero/],
      ['execute-snapshot', blocking("SELECT nextval('s')::int AS id, shop, n FROM orders"), /read-only transaction/],
      ['stop-snapshot', {}, /there is none|stop/],
      ['resume-snapshot', {}, /there is none/],
    ]
    const topic: SourceRecord[] = []
    for (const [index, [type, data, expected]] of wrong.entries()) {
      await signal(database, `wrong ${index}`, type, data)
      const found = () =>
        warnings.some((warning) => {
          const text = JSON.stringify(warning)
          return text.includes(`wrong ${index}`) && expected.test(text)
        })
      while (!found()) topic.push(...(await source.nextBatch()))
    }
    await takeToFinish(source, database, topic)
    expect(await database.run('SELECT count(*)::int AS n FROM orders')).toEqual([{ n: ROWS }])
    expect(readsOf(topic)).toEqual([])
  })
})
