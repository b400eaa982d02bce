import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findDebian, must, unpackDebian, withDebian } from './debian.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { type Command, startServer, untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

/** Arguments for `runMariadb`, and what a connector needs to connect. */
export type MariadbAddress = {
  readonly port: number
  readonly user: string
  readonly password: string
  readonly debian: string
}

const PACKAGES = ['mariadb-server']
const READY_TIMEOUT_MS = 180_000
const SHUTDOWN_MS = 30_000

/** A server of MariaDB with a binary log, from Debian's packages. It is shared by all tests of a run: use a separate database. */
export function mariadbPart(name: string): Part<MariadbAddress> {
  return {
    name,
    version: 'any',
    find: () => findDebian(PACKAGES),
    start: () => startMariadb(name, ['--server-id=1']),
  }
}

export type Mariadb = { readonly address: MariadbAddress; stop(): Promise<void> }

/** Starts a server with a binary log, from Debian's packages. `name` is that of its directory. */
export async function startMariadb(name: string, options: readonly string[]): Promise<Mariadb> {
  const debian = await unpackDebian(PACKAGES)
  const directory = partDirectory(name)
  const data = join(directory, 'data')
  // A server that starts deletes the temporary tables in this directory, also those of another running server.
  const temporary = join(directory, 'tmp')
  await mkdir(temporary, { recursive: true })
  const port = await freePort()
  const inDebian = (file: string, ...args: string[]): Command => withDebian(debian, { file, args, directory })
  const common = ['--no-defaults', `--datadir=${data}`, `--tmpdir=${temporary}`, '--user=root']
  await must(inDebian('mariadb-install-db', ...common, '--auth-root-authentication-method=normal', '--skip-test-db'))
  const logFile = join(directory, 'output.log')
  const server = startServer(
    inDebian(
      'mariadbd',
      ...common,
      ...[`--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(directory, 'socket')}`],
      ...['--log-bin=binlog', '--binlog-format=ROW', '--binlog-row-image=FULL'],
      ...['--skip-name-resolve', '--innodb-flush-log-at-trx-commit=0', '--innodb-buffer-pool-size=64M'],
      ...options,
    ),
    logFile,
  )
  const what = { what: 'MariaDB', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => accepts(`127.0.0.1:${port}`))
  // As in Debezium's documentation; the connector connects by TCP.
  const [user, password] = ['debezium', 'dbz secret']
  const root = { port, user: 'root', password: '', debian }
  await runMariadb(
    root,
    `CREATE USER '${user}'@'%' IDENTIFIED BY '${password}'; GRANT ALL ON *.* TO '${user}'@'%' WITH GRANT OPTION`,
  )
  return { address: { port, user, password, debian }, stop: async () => void (await server.end(SHUTDOWN_MS)) }
}

/** Runs SQL statements and returns the rows of the last one, with text in all columns. */
export async function runMariadb(
  { port, user, password, debian }: MariadbAddress,
  sql: string,
): Promise<readonly (readonly string[])[]> {
  const connection = ['--host=127.0.0.1', `--port=${port}`, `--user=${user}`, `--password=${password}`]
  const args = ['--no-defaults', ...connection, '--batch', '--skip-column-names', `--execute=${sql}`]
  const text = await must(withDebian(debian, { file: 'mariadb', args, directory: '.' }))
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t'))
}
