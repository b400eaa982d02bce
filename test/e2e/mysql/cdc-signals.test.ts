import { expect, it, onTestFinished } from 'vitest'
import type { Position, SourceRecord, TaskLog } from '../../../src/sdk/index.ts'
import { describeOn, real } from '../../env/real.ts'
import { lastOffset } from '../../support/cdc-source.ts'
import { randomOf } from '../../support/hostile-requests.ts'
import { HISTORY, PREFIX, startMysqlCdc } from '../../support/mysql-cdc.ts'
import { createMysqlDatabase, type MysqlDatabase } from '../../support/mysql-database.ts'
import { ReplayedTables } from '../../support/replayed-tables.ts'

const mariadb = await real('mariadb')
const ROWS = 600

type Run = ReturnType<typeof startMysqlCdc>
type Started = { readonly run: Run; readonly warnings: readonly string[] }

async function createTables(): Promise<MysqlDatabase> {
  const database = await createMysqlDatabase(mariadb.address)
  await database.run(
    'CREATE TABLE signals (id VARCHAR(42) PRIMARY KEY, type VARCHAR(32), data TEXT)',
    'CREATE TABLE orders (id INT, shop VARCHAR(20), n INT, PRIMARY KEY (shop, id))',
    'CREATE TABLE finish (id INT PRIMARY KEY)',
    `INSERT INTO orders SELECT seq, CONCAT('shop ', seq % 3), 0 FROM seq_1_to_${ROWS}`,
  )
  return database
}

/** Without a former run, the source captures what changes from now on. */
async function start(
  database: MysqlDatabase,
  config: Readonly<Record<string, string>> = {},
  former?: { readonly run: Run; readonly offset: Position },
): Promise<Started> {
  const warnings: string[] = []
  const log: TaskLog = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => void warnings.push(JSON.stringify({ ...fields, message })),
    error: () => {},
  }
  const run = startMysqlCdc(mariadb.address, database, {
    config: {
      'signal.data.collection': `${database.name}.signals`,
      'incremental.snapshot.chunk.size': '40',
      'snapshot.mode': 'no_data',
      'include.schema.changes': 'false',
      ...config,
    },
    log,
    ...(former !== undefined && { offset: former.offset, history: former.run.reported(HISTORY) }),
  })
  // The batches of the structure of the tables, of the position, and the first one of the stream.
  if (former === undefined) for (let batch = 0; batch < 3; batch += 1) await run.nextBatch()
  return { run, warnings }
}

const executeOf = ({ name }: MysqlDatabase, table = 'orders') => ({
  'data-collections': [`${name}.${table}`],
  type: 'incremental',
})

const send = (database: MysqlDatabase, id: string, type: string, data: unknown) =>
  database.run(
    `INSERT INTO signals VALUES ('${id}', '${type}', '${(typeof data === 'string' ? data : JSON.stringify(data)).replaceAll("'", "''")}')`,
  )

/** Takes records until that of the next row of the table `finish`. */
async function takeToFinish(run: Run, database: MysqlDatabase, topic: SourceRecord[], id = 1): Promise<void> {
  await database.run(`INSERT INTO finish VALUES (${id})`)
  const isFinish = (record: SourceRecord | undefined) =>
    record?.topic === `${PREFIX}.${database.name}.finish` && (record.key as { id: number }).id === id
  while (!isFinish(topic.at(-1))) topic.push(...(await run.take(1)))
}

type Read = {
  readonly op: string
  readonly after: { readonly id: number; readonly n: number }
  readonly source: { readonly snapshot: string }
}

const readsOf = (topic: readonly SourceRecord[], table = 'orders') =>
  topic
    .filter(({ topic: name }) => name.endsWith(`.${table}`))
    .map(({ value }) => value as Read | null)
    .filter((value) => value?.op === 'r')
    .map((value) => value!)

async function expectEqual(database: MysqlDatabase, topic: readonly SourceRecord[]): Promise<void> {
  const [replayed, expected] = [new ReplayedTables(), new ReplayedTables()]
  replayed.apply(topic)
  const rows = await database.run('SELECT id, shop, n FROM orders')
  expected.apply(
    rows.map(([id, shop, n]) => {
      const after = { id: Number(id), shop, n: Number(n) }
      return { topic: '', key: [shop, id], value: { op: 'r', after } } as never
    }),
  )
  expect(replayed.rows(`${PREFIX}.${database.name}.orders`)).toEqual(expected.rows(''))
}

const isReadingAt = (offset: Position | undefined) => offset?.['incremental_snapshot_collections'] !== undefined
const advanced = (run: Run) => run.advanced.at(-1)?.offset ?? {}

/** Changes rows until it is stopped. */
async function startWriter(database: MysqlDatabase): Promise<() => Promise<void>> {
  const session = await database.session()
  const random = randomOf(3)
  let isStopped = false
  const write = async () => {
    for (let n = 1; !isStopped; n += 1) {
      const id = 1 + Math.floor(random() * ROWS)
      const statements = [
        `UPDATE orders SET n = ${n} WHERE id = ${id}`,
        `DELETE FROM orders WHERE id = ${id}`,
        `INSERT INTO orders VALUES (${id}, 'new', ${n}) ON DUPLICATE KEY UPDATE n = ${n}`,
        `UPDATE orders SET shop = 'moved ${n}' WHERE id = ${id} AND shop = 'shop ${id % 3}'`,
      ]
      await session.execute('change a row', statements[Math.floor(random() * statements.length)]!)
    }
    await session.close()
  }
  const done = write()
  done.catch(() => undefined)
  const stop = () => {
    isStopped = true
    return done
  }
  onTestFinished(stop)
  return stop
}

describeOn([mariadb], 'an incremental snapshot of MariadbCdcSource', () => {
  it.each([
    ['with watermarks', {}, ['snapshot-window-close', 'snapshot-window-open']],
    ['with watermarks that are deleted', { 'incremental.snapshot.watermarking.strategy': 'insert_delete' }, undefined],
    ['read-only', { 'read.only': 'true' }, []],
  ])(
    'leaves a topic that is equal to the table, while rows change and the source is killed, %s',
    async (_, config, written) => {
      const database = await createTables()
      let { run } = await start(database, config)
      const topic: SourceRecord[] = []
      await takeToFinish(run, database, topic)
      const stopWriter = await startWriter(database)
      await send(database, 'ad-hoc', 'execute-snapshot', executeOf(database))
      const random = randomOf(5)
      let stored = lastOffset(topic)!
      for (let kill = 0; kill < 3; kill += 1) {
        const taken = await run.take(100 + Math.floor(random() * 200))
        topic.push(...taken)
        stored = lastOffset(taken.slice(0, Math.floor(random() * (taken.length + 1)))) ?? stored
        await run.stop()
        run = (await start(database, config, { run, offset: stored })).run
      }
      let hasBegun = isReadingAt(stored)
      do {
        topic.push(...(await run.take(1)))
        hasBegun ||= isReadingAt(lastOffset(topic))
      } while (!hasBegun || isReadingAt(lastOffset(topic)))
      await stopWriter()
      await takeToFinish(run, database, topic, 2)
      await expectEqual(database, topic)
      expect(readsOf(topic).length).toBeGreaterThan(ROWS / 4)
      expect(new Set(readsOf(topic).map(({ source }) => source.snapshot))).toEqual(new Set(['incremental']))
      const types = await database.run(
        "SELECT DISTINCT type FROM signals WHERE type <> 'execute-snapshot' ORDER BY type",
      )
      if (written !== undefined) expect(types.flat()).toEqual(written)
    },
  )

  it('is requested, paused, resumed and stopped by records of the signal topic, whose position survives a restart, without a change in the database', async () => {
    const config = { 'signal.enabled.channels': 'kafka', 'signal.poll.interval.ms': '20', 'read.only': 'true' }
    const database = await createTables()
    const first = (await start(database, config)).run
    const produce = (run: Run, type: string, data: unknown, key = PREFIX) =>
      run.produce(`${PREFIX}-signal`, key, JSON.stringify({ type, data }))
    produce(first, 'execute-snapshot', executeOf(database), 'another connector')
    produce(first, 'execute-snapshot', executeOf(database))
    produce(first, 'pause-snapshot', {})
    while (advanced(first)['signal_kafka_offset'] !== 3) await first.nextBatch()
    expect(advanced(first)).toMatchObject({ incremental_snapshot_paused: true })
    await first.stop()

    const { run } = await start(database, config, { run: first, offset: advanced(first) })
    const topic: SourceRecord[] = []
    await takeToFinish(run, database, topic)
    expect(readsOf(topic), 'rows while the snapshot is paused').toEqual([])
    // The topic is that of this run: the records that were executed before are not in it.
    for (let n = 0; n < 3; n += 1) produce(run, 'drop-everything', {})
    produce(run, 'resume-snapshot', {})
    while (readsOf(topic).length < ROWS) topic.push(...(await run.take(1)))
    while (isReadingAt(advanced(run))) topic.push(...(await run.nextBatch()))
    expect(readsOf(topic)).toHaveLength(ROWS)
    await expectEqual(database, topic)
    produce(run, 'execute-snapshot', executeOf(database))
    while (readsOf(topic).length < ROWS + 40) topic.push(...(await run.take(1)))
    produce(run, 'stop-snapshot', {})
    while (isReadingAt(advanced(run))) topic.push(...(await run.nextBatch()))
    await takeToFinish(run, database, topic, 2)
    expect(readsOf(topic).length).toBeLessThan(2 * ROWS)
  })

  it('reads each row once in chunks whose keys have columns of any type, and leaves rows that change to the stream', async () => {
    const database = await createTables()
    const columns = {
      a: "ENUM('z', 'y', 'x')",
      b: 'DECIMAL(20, 3) ZEROFILL',
      c: 'VARBINARY(4)',
      d: 'DATETIME(3)',
      e: 'BIT(9)',
      f: 'CHAR(5) CHARACTER SET latin1',
      g: 'INT(6) ZEROFILL',
      h: 'BINARY(3)',
    }
    const names = Object.keys(columns)
    await database.run(
      `CREATE TABLE typed (n INT, id INT, ${names.map((name) => `${name} ${columns[name as 'a']}`).join(', ')}, PRIMARY KEY (${names.join(', ')}))`,
      `INSERT INTO typed SELECT 0, seq, 1 + seq % 3, seq % 2 + 0.125, CHAR(seq % 5, 39, 92), '2026-11-29 01:02:03.456', 1 + seq % 2,
        CONCAT('ä', CHAR(39), seq % 2), seq % 2, CHAR(seq % 2) FROM seq_1_to_30`,
    )
    const { run, warnings } = await start(database, { 'incremental.snapshot.chunk.size': '4' })
    const topic: SourceRecord[] = []
    await takeToFinish(run, database, topic)
    await send(database, 'typed', 'execute-snapshot', executeOf(database, 'typed'))
    while (readsOf(topic, 'typed').length < 30) topic.push(...(await run.take(1)))
    expect(
      readsOf(topic, 'typed')
        .map(({ after }) => after.id)
        .toSorted((x, y) => x - y),
    ).toEqual(Array.from({ length: 30 }, (_, index) => index + 1))
    expect(warnings).toEqual([])
  })

  it('reads the table as it is in the stream, and reads a chunk again if the table is altered meanwhile', async () => {
    const database = await createTables()
    const { run } = await start(database)
    const topic: SourceRecord[] = []
    await takeToFinish(run, database, topic)
    await send(database, 'first', 'execute-snapshot', executeOf(database))
    while (readsOf(topic).length < 40) topic.push(...(await run.take(1)))
    // The stream reads neither of these statements before a chunk fails or is read with other columns.
    await database.run(
      'ALTER TABLE orders CHANGE n amount BIGINT, ADD COLUMN added INT DEFAULT 5 FIRST',
      'ALTER TABLE orders DROP COLUMN added',
      "UPDATE orders SET amount = 7 WHERE shop = 'shop 2'",
    )
    while (isReadingAt(lastOffset(topic))) topic.push(...(await run.take(1)))
    // Rows that changed while their chunk was read are in the stream.
    const rows = topic.map(({ value }) => value as (Read & { readonly after: { readonly amount?: number } }) | null)
    const present = rows.filter((value) => value?.after && value.op !== 'c')
    expect(new Set(present.map((value) => value!.after.id)).size).toBe(ROWS)
    const last = new Map(present.map((value) => [value!.after.id, value!.after]))
    const isOfShop2 = [...last.values()].filter(({ id }) => id % 3 === 2)
    expect(isOfShop2.filter(({ amount }) => amount !== 7)).toEqual([])
  })

  it('of type blocking reads the rows that the SELECT statement of its signal returns', async () => {
    const database = await createTables()
    const { run } = await start(database)
    const topic: SourceRecord[] = []
    await takeToFinish(run, database, topic)
    const filter = `SELECT id, shop, n FROM ${database.name}.orders WHERE id > 590 -- a comment`
    const conditions = [{ 'data-collection': `${database.name}.orders`, filter }]
    const data = { ...executeOf(database), type: 'blocking', 'additional-conditions': conditions }
    await send(database, 'now', 'execute-snapshot', data)
    while (readsOf(topic).length < 10) topic.push(...(await run.take(1)))
    await takeToFinish(run, database, topic, 2)
    const reads = readsOf(topic)
    const ids = reads.map(({ after }) => after.id).toSorted((a, b) => a - b)
    expect(ids).toEqual(Array.from({ length: 10 }, (_, index) => 591 + index))
    expect(reads.at(-1)!.source.snapshot).toBe('last')
  })
})

describeOn([mariadb], 'a signal of MariadbCdcSource that is wrong', () => {
  it('is logged as a warning with its id, and does not stop the capture of changes', async () => {
    const database = await createTables()
    await database.run(
      'CREATE TABLE keyless (n INT)',
      'CREATE TABLE approximate (n DOUBLE PRIMARY KEY)',
      'CREATE SEQUENCE s',
    )
    const { run, warnings } = await start(database)
    const topic: SourceRecord[] = []
    await takeToFinish(run, database, topic)
    const orders = executeOf(database)
    const limited = (condition: string) => ({ ...orders, 'additional-condition': condition })
    const blocking = (filter: string) => ({
      ...orders,
      type: 'blocking',
      'additional-conditions': [{ 'data-collection': `${database.name}.orders`, filter }],
    })
    const { name } = database
    const wrong: readonly (readonly [string, unknown, RegExp])[] = [
      ['execute-snapshot', '{"data-collections', /no JSON/],
      ['drop-everything', {}, /not supported/],
      ['execute-snapshot', { 'data-collections': [`${name}.unknown`] }, /not captured/],
      ['execute-snapshot', executeOf(database, 'keyless'), /no key/],
      ['execute-snapshot', executeOf(database, 'approximate'), /cannot be ordered by its column n/],
      ['execute-snapshot', { ...orders, 'surrogate-key': 'x`; DROP TABLE orders; --' }, /no column/],
      ['execute-snapshot', limited('1 = 1); DROP TABLE orders; -- '), /SQL syntax/],
      ['execute-snapshot', limited('nothing = 1'), /Unknown column/],
      ['execute-snapshot', limited(`NEXT VALUE FOR ${name}.s = 0`), /READ ONLY transaction/],
      ['execute-snapshot', blocking(`SELECT id FROM ${name}.orders; DROP TABLE ${name}.orders`), /SQL syntax/],
      ['execute-snapshot', blocking(`SELECT id FROM ${name}.orders`), /Unknown column/],
      ['stop-snapshot', {}, /there is none/],
    ]
    for (const [index, [type, data, expected]] of wrong.entries()) {
      await send(database, `wrong ${index}`, type, data)
      // A blocking snapshot that fails is followed by nothing else.
      await takeToFinish(run, database, topic, 10 + index)
      const found = () => warnings.some((text) => text.includes(`wrong ${index}`) && expected.test(text))
      while (!found()) topic.push(...(await run.nextBatch()))
    }
    await takeToFinish(run, database, topic, 2)
    expect(await database.run('SELECT count(*) FROM orders')).toEqual([[String(ROWS)]])
    expect(readsOf(topic)).toEqual([])
  })
})
