import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { parseMysqlUrl } from '../../src/plugins/connectors/mysql/connection-url.ts'
import { MysqlSession } from '../../src/plugins/connectors/mysql/session.ts'
import { type TaskLog, UNRESTRICTED } from '../../src/sdk/index.ts'
import type { MariadbAddress } from '../env/mariadb.ts'

type RegisterCleanup = (clean: () => Promise<void>) => void

export type MysqlDatabase = {
  readonly name: string
  /** Connection settings of a connector. */
  readonly config: Readonly<Record<'connection.url' | 'connection.user' | 'connection.password', string>>
  /** Runs SQL statements, and returns the rows of the last one. */
  run(...statements: readonly string[]): Promise<readonly (readonly (string | null)[])[]>
  /** Opens another session, with options of the URL. */
  session(options?: string, login?: MysqlLogin): Promise<MysqlSession>
}

export type MysqlLogin = { readonly user: string; readonly password: string }

const SILENT: TaskLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** Creates a database that is dropped when the running test ends, or when `atTheEnd` calls back. */
export async function createMysqlDatabase(
  { port, user, password }: MariadbAddress,
  atTheEnd: RegisterCleanup = onTestFinished,
): Promise<MysqlDatabase> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const stopping = new AbortController()
  const open = (database: string, options: string, login: MysqlLogin) =>
    MysqlSession.open(
      {
        url: parseMysqlUrl(`jdbc:mariadb://127.0.0.1:${port}/${database}?${options}`),
        ...login,
        applicationName: 'test',
        log: SILENT,
        access: UNRESTRICTED,
        signal: stopping.signal,
      },
      { attempts: 1, backoffMs: 0 },
    )
  const admin = await open('', '', { user, password })
  await admin.execute('create the database', `CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  await admin.execute('use the database', `USE ${name}`)
  atTheEnd(async () => {
    await admin.execute('drop the database', `DROP DATABASE ${name}`)
    stopping.abort()
  })
  return {
    name,
    config: {
      'connection.url': `jdbc:mariadb://127.0.0.1:${port}/${name}`,
      'connection.user': user,
      'connection.password': password,
    },
    session: (options = '', login = { user, password }) => open(name, options, login),
    async run(...statements) {
      let rows: Awaited<ReturnType<typeof admin.query>> = []
      for (const statement of statements) rows = await admin.query('run a statement of the test', statement)
      return rows
    },
  }
}
