import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import type { Postgres } from './postgres.ts'
import { findPackage, initializeData, type PostgresServer, preparePostgres } from './postgres-server.ts'

const USER = 'weir'
const PASSWORD = 'a secret'
/** The physical slot with which the standby keeps the log of the primary server. */
const STANDBY_SLOT = 'standby'

/** A primary server and a streaming standby. The standby also receives the logical slots that have `failover` enabled. */
export type PostgresPair = { readonly primary: Postgres; readonly standby: Postgres; stop(): Promise<void> }

/** PostgreSQL 18 from npm, for tests of what the installed version may not have. Each test starts its own servers. */
export function postgres18Part(name: string): Part<object> {
  return {
    name,
    version: '18',
    find: findPackage,
    async start() {
      await (await preparePostgres(undefined)).run('true', [])
      return { address: {}, stop: async () => {} }
    },
  }
}

/** Starts one server. */
export async function startPostgres18(settings: Readonly<Record<string, string>>): Promise<Postgres> {
  const machine = await preparePostgres(undefined)
  const options = await serverOptions(settings)
  await initializeData(machine, 'data', options)
  return address(await machine.start('data', options), options.port)
}

/**
 * Starts a primary server and a standby. The standby has a copy of the empty database cluster, and receives the log from its
 * beginning. `pg_sync_replication_slots()` on the standby copies the slots with `failover`. The settings are those of the primary server.
 */
export async function startPostgresPair(settings: Readonly<Record<string, string>>): Promise<PostgresPair> {
  const machine = await preparePostgres(undefined)
  const primaryOptions = await serverOptions({ ...settings, wal_level: 'logical', wal_keep_size: '1GB' })
  await initializeData(machine, 'primary', primaryOptions)
  await machine.run('cp', ['-a', join(machine.directory, 'primary'), join(machine.directory, 'standby')])
  const primary = address(await machine.start('primary', primaryOptions), primaryOptions.port)
  await query(primary.url, `SELECT pg_create_physical_replication_slot('${STANDBY_SLOT}', true)`)
  writeFileSync(join(machine.directory, 'standby', 'standby.signal'), '')
  const standbyOptions = await serverOptions({
    wal_level: 'logical',
    hot_standby_feedback: 'on',
    primary_slot_name: STANDBY_SLOT,
    primary_conninfo: `host=127.0.0.1 port=${primary.port} user=${USER} password='${PASSWORD}' dbname=postgres`,
  })
  const standby = address(await machine.start('standby', standbyOptions), standbyOptions.port)
  return {
    primary,
    standby,
    async stop() {
      await primary.stop()
      await standby.stop()
    },
  }
}

async function serverOptions(settings: Readonly<Record<string, string>>) {
  return { port: await freePort(), user: USER, password: PASSWORD, settings }
}

function address(server: PostgresServer, port: number): Postgres {
  return { ...server, port, url: `postgresql://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres` }
}

async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}
