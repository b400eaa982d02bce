import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { parseConnectionUrl } from '../../../src/plugins/connectors/postgres/connection-url.ts'
import { Session } from '../../../src/plugins/connectors/postgres/session.ts'
import { postgresSink } from '../../../src/plugins/connectors/postgres/sink/sink.ts'
import { postgresSource } from '../../../src/plugins/connectors/postgres/source/source.ts'
import { runSink, runSource, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { freePort } from '../../env/ports.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const postgres = await real('postgres')

const pem = (name: string) => join(import.meta.dirname, '../../support/tls', `${name}.pem`)
const CA = `sslrootcert=${pem('ca')}`
const PATIENCE = { attempts: 1, backoffMs: 0 }

/** Whether the connection of a sink that was started with it is encrypted; or what it says. */
async function connect(url: string, own: Readonly<Record<string, string>> = {}): Promise<boolean | string> {
  const base = { 'connection.url': url, 'connection.user': 'weir', 'connection.password': 'a secret' }
  const config = { ...base, 'connection.attempts': '1', ...own }
  const run = await runSink(postgresSink, { config, connector: 'tls' }).catch((error: Error) => error.message)
  if (typeof run === 'string') return run
  onTestFinished(() => run.stop())
  const seen = await server.client.query(
    "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'weir tls'",
  )
  await run.stop()
  return seen.rows[0].ssl
}

let server: Postgres & { readonly client: pg.Client }

/** With a certificate for localhost and 127.0.0.1; the role `client` comes in by its own certificate alone. */
async function startSecured(): Promise<typeof server> {
  const started = await startPostgres()
  const client = new pg.Client({ connectionString: started.url })
  await client.connect()
  const write = (name: string) =>
    client.query(
      `COPY (SELECT '${readFileSync(pem(name)).toString('base64')}') TO PROGRAM 'umask 077; base64 -d > ${name}.pem'`,
    )
  await write('server')
  await write('ca')
  await client.query(
    "COPY (SELECT 'hostssl all client all cert') TO PROGRAM 'cat - pg_hba.conf > new; mv new pg_hba.conf'",
  )
  const settings = [
    "ssl = 'on'",
    "ssl_cert_file = 'server.pem'",
    "ssl_key_file = 'server.pem'",
    "ssl_ca_file = 'ca.pem'",
  ]
  for (const setting of settings) await client.query(`ALTER SYSTEM SET ${setting}`)
  await client.query('CREATE ROLE client LOGIN')
  await client.query('SELECT pg_reload_conf()')
  await until(
    'TLS to be on',
    { everyMs: 20, timeoutMs: 60_000 },
    async () => (await client.query('SHOW ssl')).rows[0].ssl === 'on',
  )
  return { ...started, client }
}

describeOn([postgres], 'the connection to PostgreSQL', () => {
  beforeAll(async () => {
    server = await startSecured()
  })
  afterAll(async () => {
    await server.client.end()
    await server.stop()
  })

  it.each([
    { host: 'localhost', options: 'sslmode=verify-full', encrypted: true },
    { host: '127.0.0.1', options: 'sslmode=verify-full', encrypted: true },
    // The name is none of the certificate's.
    { host: '127.1', options: 'sslmode=verify-ca', encrypted: true },
    { host: 'localhost', options: 'sslmode=require', encrypted: true },
    { host: 'localhost', options: 'sslmode=prefer', encrypted: true },
    { host: 'localhost', options: 'sslmode=allow', encrypted: false },
    { host: 'localhost', options: 'sslmode=disable', encrypted: false },
  ])('is encrypted as $options to $host says: $encrypted', async ({ host, options, encrypted }) => {
    expect(await connect(`jdbc:postgresql://${host}:${server.port}/postgres?${options}&${CA}`)).toBe(encrypted)
  })

  it.each([
    {
      what: 'a server whose certificate another CA signed',
      host: 'localhost',
      options: `sslrootcert=${pem('shorter')}`,
      says: /^could not connect to the database at localhost:\d+: .*; name the CA that signed .* by sslrootcert/,
    },
    { what: 'a server of an unknown CA', host: 'localhost', options: '', says: /; name the CA that signed/ },
    { what: 'a server of another name', host: '127.1', options: CA, says: /; write the host in connection\.url as/ },
    {
      what: 'a CA that is not there',
      host: 'localhost',
      options: 'sslrootcert=/none.pem',
      says: /^could not read the sslrootcert of connection\.url: ENOENT.*; correct its path$/,
    },
    {
      what: 'anybody with a certificate that is none',
      host: 'localhost',
      options: `${CA}&sslcert=${import.meta.filename}&sslkey=${import.meta.filename}`,
      says: /; see that sslrootcert, sslcert and sslkey .* are files in PEM format/,
    },
  ])('is refused to $what, which is told', async ({ host, options, says }) => {
    const url = `jdbc:postgresql://${host}:${server.port}/postgres?sslmode=verify-full&${options}`
    expect(await connect(url)).toMatch(says)
  })

  it('is not made in the open where it has to be encrypted', async () => {
    const { host } = new URL(postgres.address.url)
    expect(await connect(`jdbc:postgresql://${host}/postgres?sslmode=require`)).toMatch(
      /does not support SSL connections; turn ssl on in the server, or choose another sslmode/,
    )
  })

  it('is made with the certificate of a client instead of a password', async () => {
    const url = `jdbc:postgresql://localhost:${server.port}/postgres?sslmode=verify-full&${CA}`
    const role = { 'connection.user': 'client' }
    expect(await connect(url, role)).toMatch(/\[28000\]; correct connection\.user, or let it in/)
    expect(await connect(`${url}&sslcert=${pem('client')}&sslkey=${pem('client')}`, role)).toBe(true)
  })

  it('is made to the first of several hosts that answers, and tells of all when none does', async () => {
    const nobody = await freePort()
    const away = `127.0.0.1:${nobody},nowhere.invalid`
    expect(await connect(`jdbc:postgresql://${away},localhost:${server.port}/postgres`)).toBe(true)
    expect(await connect(`jdbc:postgresql://${away}/postgres`)).toMatch(
      new RegExp(
        `at 127\\.0\\.0\\.1:${nobody}: .*; start the server.*; could not .* at nowhere\\.invalid:5432: .*; correct`,
      ),
    )
  })

  it('goes on to the next host when the one it had is gone', async () => {
    const other = await startPostgres()
    onTestFinished(() => other.stop())
    const same = 'CREATE TABLE moved (id serial PRIMARY KEY, word text)'
    const database = await createDatabase(other.url, () => undefined)
    await database.run(`${same}; INSERT INTO moved (word) VALUES ('here')`)
    await server.client.query(`CREATE DATABASE ${database.name}`)
    const standby = new pg.Client({ connectionString: server.url.replace(/postgres$/, database.name) })
    await standby.connect()
    await standby.query(`${same}; INSERT INTO moved (word) VALUES ('here'), ('there')`)
    await standby.end()
    const run = runSource(postgresSource, {
      config: {
        ...database.config,
        'connection.url': `jdbc:postgresql://127.0.0.1:${other.port},127.0.0.1:${server.port}/${database.name}`,
        'topic.prefix': '',
        'poll.interval.ms': '10',
        mode: 'incrementing',
      },
    })
    onTestFinished(() => run.stop())
    expect((await run.take(1))[0]!.value).toEqual({ id: 1, word: 'here' })
    await other.crash()
    expect((await run.take(1))[0]!.value).toEqual({ id: 2, word: 'there' })
  })

  it('leaves nothing behind at a task that connects again and again', async () => {
    const { signal } = new AbortController()
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const options = { user: 'weir', password: 'a secret', applicationName: 'again', log, access: UNRESTRICTED, signal }
    const open = (host: string) =>
      Session.open({ ...options, url: parseConnectionUrl(`jdbc:postgresql://${host}/postgres`) }, PATIENCE)
    const session = await open(`localhost:${server.port}`)
    await session.close()
    await expect(open(`127.0.0.1:${await freePort()}`)).rejects.toThrow('start the server')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('says which options of its address have no effect', async () => {
    const warned: object[] = []
    const log = { debug() {}, info() {}, warn: (fields: object) => void warned.push(fields), error() {} }
    const url = parseConnectionUrl(`${postgres.address.url}?reWriteBatchedInserts=true&ssl=false`)
    const { signal } = new AbortController()
    const options = {
      url,
      user: undefined,
      password: undefined,
      applicationName: 'options',
      log,
      access: UNRESTRICTED,
      signal,
    }
    await using session = await Session.open(options, PATIENCE)
    expect([session.isOpen, warned]).toEqual([true, [{ options: ['reWriteBatchedInserts'] }]])
  })

  it('is given up at once by a task that was stopped', async () => {
    const stopping = new AbortController()
    const warned: unknown[] = []
    const log = {
      debug() {},
      info() {},
      error() {},
      warn(fields: unknown) {
        warned.push(fields)
        stopping.abort()
      },
    }
    const url = parseConnectionUrl(`jdbc:postgresql://127.0.0.1:${await freePort()}/postgres`)
    const options = {
      url,
      user: 'weir',
      password: 'x',
      applicationName: 'late',
      log,
      access: UNRESTRICTED,
      signal: stopping.signal,
    }
    await expect(Session.open(options, { attempts: 100, backoffMs: 3_600_000 })).rejects.toThrow('could not connect')
    expect(warned).toEqual([expect.objectContaining({ attempt: 1, waitMs: 3_600_000 })])
  })

  it('looks for tables in currentSchema, whatever its name', async () => {
    const database = await createDatabase(postgres.address.url)
    await database.run(`CREATE SCHEMA "it's-mine"; CREATE TABLE "it's-mine".words (word text)`)
    const url = `${database.config['connection.url']}?currentSchema=${encodeURIComponent("it's-mine")}`
    const run = await runSink(postgresSink, { config: { ...database.config, 'connection.url': url } })
    onTestFinished(() => run.stop())
    const valueSchema = { type: 'struct', fields: [{ name: 'word', schema: { type: 'string' } }] } as const
    await run.put([{ topic: 'words', value: { word: 'a' }, valueSchema }])
    expect(await database.run(`SELECT word FROM "it's-mine".words`)).toEqual([{ word: 'a' }])
  })
})
