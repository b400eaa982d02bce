import { getEventListeners } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { parseConnectionUrl } from '../../../src/plugins/connectors/postgres/connection-url.ts'
import { Session } from '../../../src/plugins/connectors/postgres/session.ts'
import { postgresSink } from '../../../src/plugins/connectors/postgres/sink/postgres-sink.ts'
import { postgresSource } from '../../../src/plugins/connectors/postgres/source/postgres-source.ts'
import { runSink, runSource, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { freePort } from '../../env/ports.ts'
import { type Postgres, startPostgres } from '../../env/postgres.ts'
import { describeOn, real } from '../../env/real.ts'
import { createDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const postgres = await real('postgres')

const pem = (name: string) => join(import.meta.dirname, '../../support/tls', `${name}.pem`)
const CA = `sslrootcert=${pem('ca')}`
const ONE_ATTEMPT = { attempts: 1, backoffMs: 0 }

/** Starts a sink and returns whether its connection is encrypted, or the error message. */
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

/** Starts a server with a certificate for localhost and 127.0.0.1. The role `client` must authenticate by certificate. */
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
    { everyMs: 20, timeoutMs: 120_000 },
    async () => (await client.query('SHOW ssl')).rows[0].ssl === 'on',
  )
  return { ...started, client }
}

describeOn([postgres], 'the connection of the PostgreSQL connectors', () => {
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
  ])('with $options to $host is encrypted: $encrypted', async ({ host, options, encrypted }) => {
    expect(await connect(`jdbc:postgresql://${host}:${server.port}/postgres?${options}&${CA}`)).toBe(encrypted)
  })

  it.each([
    {
      what: 'the certificate is signed by another CA',
      host: 'localhost',
      options: `sslrootcert=${pem('shorter')}`,
      says: /^could not connect to the database at localhost:\d+: .*; set sslrootcert in connection\.url to the CA that signed/,
    },
    {
      what: 'the CA is not trusted',
      host: 'localhost',
      options: '',
      says: /; set sslrootcert in connection\.url to the CA/,
    },
    {
      what: 'the certificate is for another host name',
      host: '127.1',
      options: CA,
      says: /; set the host in connection\.url to a name in the certificate/,
    },
    {
      what: 'the CA file does not exist',
      host: 'localhost',
      options: 'sslrootcert=/none.pem',
      says: /^could not read the file sslrootcert of connection\.url: ENOENT.*; correct its path$/,
    },
    {
      what: 'the client certificate is not a PEM file',
      host: 'localhost',
      options: `${CA}&sslcert=${import.meta.filename}&sslkey=${import.meta.filename}`,
      says: /; check that sslrootcert, sslcert and sslkey .* are PEM files/,
    },
  ])('is refused with a remedy in the error: $what', async ({ host, options, says }) => {
    const url = `jdbc:postgresql://${host}:${server.port}/postgres?sslmode=verify-full&${options}`
    expect(await connect(url)).toMatch(says)
  })

  it('is not established without encryption if sslmode requires it', async () => {
    const { host } = new URL(postgres.address.url)
    expect(await connect(`jdbc:postgresql://${host}/postgres?sslmode=require`)).toMatch(
      /does not support SSL connections; enable ssl on the server, or set another sslmode/,
    )
  })

  it('is authenticated by a client certificate instead of a password', async () => {
    const url = `jdbc:postgresql://localhost:${server.port}/postgres?sslmode=verify-full&${CA}`
    const role = { 'connection.user': 'client' }
    expect(await connect(url, role)).toMatch(
      /\[28000\]; correct connection\.user, or permit this connection in pg_hba\.conf/,
    )
    expect(await connect(`${url}&sslcert=${pem('client')}&sslkey=${pem('client')}`, role)).toBe(true)
  })

  it('is established to the first available of several hosts, or fails with the errors of all', async () => {
    const nobody = await freePort()
    const away = `127.0.0.1:${nobody},nowhere.invalid`
    expect(await connect(`jdbc:postgresql://${away},localhost:${server.port}/postgres`)).toBe(true)
    expect(await connect(`jdbc:postgresql://${away}/postgres`)).toMatch(
      new RegExp(
        `at 127\\.0\\.0\\.1:${nobody}: .*; start the server.*; could not .* at nowhere\\.invalid:5432: .*; correct`,
      ),
    )
  })

  it('continues on the next host if the current one is no longer available', async () => {
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

  it("removes its listeners from the task's abort signal", async () => {
    const { signal } = new AbortController()
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const options = { user: 'weir', password: 'a secret', applicationName: 'again', log, access: UNRESTRICTED, signal }
    const open = (host: string) =>
      Session.open({ ...options, url: parseConnectionUrl(`jdbc:postgresql://${host}/postgres`) }, ONE_ATTEMPT)
    const session = await open(`localhost:${server.port}`)
    await session.close()
    await expect(open(`127.0.0.1:${await freePort()}`)).rejects.toThrow('start the server')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('logs a warning with the options of connection.url that have no effect', async () => {
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
    await using session = await Session.open(options, ONE_ATTEMPT)
    expect([session.isOpen, warned]).toEqual([true, [{ options: ['reWriteBatchedInserts'] }]])
  })

  it('is not retried when the task is stopped', async () => {
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

  it('searches tables in currentSchema, with any characters in its name', async () => {
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
