import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { onTestFinished } from 'vitest'

type AtTheEnd = (clean: () => Promise<void>) => void

export type Database = {
  /** As a connector is told of it. */
  readonly config: Readonly<Record<'connection.url' | 'connection.user' | 'connection.password', string>>
  readonly name: string
  /** Runs statements; the rows of the last one, as objects. */
  run(sql: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
  /** Another client beside it. */
  client(): Promise<pg.Client>
}

/** A database of its own, which goes with the running test, or as `atTheEnd` has it. */
export async function createDatabase(serverUrl: string, atTheEnd: AtTheEnd = onTestFinished): Promise<Database> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await once(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const client = async () => {
    const connected = new pg.Client({ connectionString: url.href })
    // Who restarts the server cuts it.
    connected.on('error', () => undefined)
    await connected.connect()
    return connected
  }
  atTheEnd(() => once(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
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

async function once(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
