import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

type RegisterCleanup = (clean: () => Promise<void>) => void

export type Database = {
  /** Connection settings of a connector. */
  readonly config: Readonly<Record<'connection.url' | 'connection.user' | 'connection.password', string>>
  readonly name: string
  /** Runs SQL statements and returns the rows of the last one as objects. */
  run(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  /** Opens another client connection. */
  client(): Promise<pg.Client>
}

/** Creates a database that is dropped when the running test ends, or when `atTheEnd` calls back. */
export async function createDatabase(serverUrl: string, atTheEnd: RegisterCleanup = onTestFinished): Promise<Database> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await once(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const client = async () => {
    const connected = new pg.Client({ connectionString: url.href })
    // A restart of the server closes the connection.
    connected.on('error', () => undefined)
    await connected.connect()
    return connected
  }
  atTheEnd(() => drop(serverUrl, name))
  return {
    name,
    client,
    config: {
      'connection.url': `jdbc:postgresql://${url.host}/${name}`,
      'connection.user': url.username,
      'connection.password': decodeURIComponent(url.password),
    },
    async run(sql, values = []) {
      const connected = await client()
      try {
        const result: pg.QueryResult | pg.QueryResult[] = await connected.query(sql, [...values])
        return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) ?? []
      } finally {
        await connected.end()
      }
    },
  }
}

/** The server notices the end of a client that used a replication slot after the client, and drops no database with such a slot. */
async function drop(serverUrl: string, name: string): Promise<void> {
  await until(`${name} to be dropped`, { everyMs: 50, timeoutMs: 120_000 }, async () => {
    try {
      await once(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
      return true
    } catch (error) {
      if ((error as { readonly code?: string }).code === OBJECT_IN_USE) return false
      throw error
    }
  })
}

const OBJECT_IN_USE = '55006'

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
