import { createServer } from 'node:net'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createWorkerClient } from '../../../src/clients/worker-client.ts'
import type { TaskLog } from '../../../src/sdk/index.ts'
import { freePort } from '../../env/ports.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { cdcConfigOf, startCdcSource } from '../../support/cdc-source.ts'
import { createDatabase, type Database } from '../../support/database.ts'
import { startTestWorker } from '../../support/worker.ts'

const postgres = await real('postgres')

let shared: Promise<Postgres> | undefined
let starts = 0
const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

async function database(): Promise<Database> {
  shared ??= startPostgres({ wal_level: 'logical' })
  const created = await createDatabase((await shared).url)
  await created.run('CREATE TABLE orders (id int PRIMARY KEY)')
  return created
}

afterAll(async () => (await shared)?.stop())

const configOf = (db: Database) => ({ name: 'changes', 'connector.class': 'PostgresCdcSource', ...cdcConfigOf(db) })

/** The errors of `/validate`, as `KEY: MESSAGE`. */
async function startValidation(db: Database) {
  const client = createWorkerClient({ url: (await startTestWorker()).url })
  const errorsOf = async (own: Readonly<Record<string, string>>) => {
    const { configs } = await client.validate('PostgresCdcSource', { ...configOf(db), ...own })
    return configs.flatMap(({ value }) => value.errors.map((error) => `${value.name}: ${error}`))
  }
  return { client, errorsOf }
}

describeOn([postgres], 'the validation of a PostgreSQL CDC source', () => {
  it('reports at its key why the database cannot be reached, and such a connector is not created', async () => {
    const db = await database()
    const { client, errorsOf } = await startValidation(db)
    expect(await errorsOf({})).toEqual([])
    expect(await errorsOf({ 'database.password': 'wrong' })).toEqual([
      expect.stringMatching(
        /^database\.user: .*password authentication failed.*; correct database\.user and database\.p/,
      ),
    ])
    expect(await errorsOf({ 'database.dbname': 'missing' })).toEqual([
      expect.stringMatching(/^database\.dbname: .*database "missing" does not exist.*; correct database\.dbname, or/),
    ])
    expect(await errorsOf({ 'database.hostname': 'nowhere.invalid' })).toEqual([
      expect.stringMatching(/^database\.hostname: .*nowhere\.invalid.*; correct database\.hostname, or the DNS/),
    ])
    expect(await errorsOf({ 'database.port': String(await freePort()) })).toEqual([
      expect.stringMatching(
        /^database\.hostname: .*ECONNREFUSED.*; start the server, or correct database\.hostname and/,
      ),
    ])
    await expect(client.create('changes', { ...configOf(db), 'database.password': 'wrong' })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('password authentication failed'),
    })
    expect(await client.list()).toEqual({})
  })

  it('ends when the server accepts the connection but does not answer', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void silent.close())
    const { errorsOf } = await startValidation(await database())
    const { port } = silent.address() as { readonly port: number }
    const own = { 'database.port': String(port), 'connection.validation.timeout.ms': '200' }
    expect(await errorsOf(own)).toEqual([expect.stringMatching(/^database\.hostname: .*timeout expired/)])
  })

  it('reports what the start reports, with the same remedies', async () => {
    const server = await startPostgres({ wal_level: 'replica', max_replication_slots: '0' })
    onTestFinished(() => server.stop())
    const db = await createDatabase(server.url, () => undefined)
    await db.run("CREATE TABLE orders (id int PRIMARY KEY); CREATE ROLE poor LOGIN PASSWORD 'x'")
    const role = { 'database.user': 'poor', 'database.password': 'x', 'snapshot.mode': 'initial' }
    const { errorsOf } = await startValidation(db)
    const errors = await errorsOf(role)
    expect(errors.map((error) => error.slice(0, error.indexOf(';')))).toEqual([
      'database.hostname: wal_level of the server is replica, expected logical',
      'database.user: the role poor may not replicate',
      'database.user: the role poor may not read the existing rows of public.orders',
      expect.stringMatching(/^slot\.name: all 0 replication slots of the server are used/),
      expect.stringMatching(
        /^publication\.autocreate\.mode: the publication dbz_publication does not exist, and only a/,
      ),
    ])
    const refusal = await startCdcSource(db, { config: role }).catch(({ message }: Error) => message)
    const reported = String(refusal).split('\n').slice(1).join(' ').replaceAll(/\s+/g, ' ')
    for (const error of errors) {
      const [message, remedy] = error.slice(error.indexOf(': ') + 2).split('; remedy: ')
      expect(reported).toContain(`${message} ${remedy}`)
    }
  })

  it('reports a list of tables that matches nothing, of which no publication can be made', async () => {
    const { errorsOf } = await startValidation(await database())
    const own = { 'publication.autocreate.mode': 'filtered', 'table.include.list': 'public.missing' }
    expect(await errorsOf(own)).toEqual([
      'table.include.list: no table of the database is included, so the publication would be empty; remedy: ' +
        'Correct table.include.list (SCHEMA.TABLE), or create the tables first',
    ])
  })

  it('accepts a connector that runs, and needs no SELECT after its snapshot', async () => {
    const db = await database()
    const role = `streams_${db.name}`
    await db.run(`CREATE ROLE ${role} LOGIN REPLICATION PASSWORD 'x'; GRANT SELECT ON orders TO ${role};
      CREATE PUBLICATION dbz_publication FOR ALL TABLES`)
    const config = { 'database.user': role, 'database.password': 'x', 'snapshot.mode': 'initial' }
    const { errorsOf } = await startValidation(db)
    expect(await errorsOf(config)).toEqual([])
    await startCdcSource(db, { config })
    await db.run(`REVOKE SELECT ON orders FROM ${role}`)
    expect(await errorsOf(config)).toEqual([])
    const elsewhere = await database()
    const sameSlot = { ...cdcConfigOf(elsewhere), 'slot.name': cdcConfigOf(db)['slot.name']! }
    const taken = `slot.name: the replication slot ${sameSlot['slot.name']} belongs to the database ${db.name}, expected ${elsewhere.name}`
    expect(await errorsOf(sameSlot)).toEqual([expect.stringContaining(taken)])
    const renamed = { ...config, 'slot.name': `${db.name.slice(0, 50)}_2` }
    expect(await errorsOf(renamed)).toEqual([
      expect.stringMatching(/^database\.user: the role streams_\w+ may not read the existing rows of public\.orders; /),
    ])
  })
  it('warns at the start of row-level security that hides rows from the snapshot, unless the role bypasses it', async () => {
    const db = await database()
    const role = `hidden_${db.name}`
    await db.run(`CREATE ROLE ${role} LOGIN REPLICATION PASSWORD 'x'; GRANT SELECT ON orders TO ${role};
      ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON orders USING (id < 2); INSERT INTO orders VALUES (1), (2);
      CREATE PUBLICATION dbz_publication FOR ALL TABLES`)
    const config = { 'database.user': role, 'database.password': 'x', 'snapshot.mode': 'initial' }
    const start = async () => {
      const warnings: string[] = []
      const log = { ...SILENT, warn: (_: object, message: string) => void warnings.push(message) }
      const slot = `${db.name.slice(0, 50)}_${starts++}`
      const source = await startCdcSource(db, { config: { ...config, 'slot.name': slot }, log, isAwaited: false })
      const rows = (await source.nextBatch()).length
      return { rows, warnings: warnings.filter((message) => message.includes('row-level security')) }
    }
    expect(await start()).toEqual({
      rows: 1,
      warnings: [expect.stringContaining(`the role ${role}, so a snapshot misses`)],
    })
    await db.run(`ALTER ROLE ${role} BYPASSRLS`)
    expect(await start()).toEqual({ rows: 2, warnings: [] })
  })
})
