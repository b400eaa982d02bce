import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../env/ports.ts'
import { type Output, run, type Server, startServer, tail } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds, weirScript } from './cli.ts'
import { type CommandBlock, ROOT } from './doc-commands.ts'
import { weirProcessOf } from './process-tree.ts'
import { until } from './until.ts'

const START = { everyMs: 25, timeoutMs: 120_000 }
const STOP = { everyMs: 25, timeoutMs: 120_000 }

export type DocShell = {
  /** Writes a file that the page shows. */
  write(name: string, text: string): void
  /** Runs commands; fails the test unless they exit with 0. */
  run(block: CommandBlock): Promise<Output>
  /** Starts a program and waits until it is ready. Stops the one before. */
  start(block: CommandBlock): Promise<void>
  /** Stops the started program as Ctrl-C does; fails the test unless it exits with 0. */
  stop(): Promise<void>
  /** For a test that failed: stops the program, whatever its exit code. */
  kill(): Promise<void>
}

/**
 * Executes the blocks of one page in a directory that has what they use of the checkout. So that pages can be tested at the
 * same time, and beside a program that somebody runs, the ports 8081 and 8083 of the pages become free ones.
 */
export async function createDocShell(
  page: string,
  env: Readonly<Record<string, string>> = {},
  replacements: Readonly<Record<string, string>> = {},
): Promise<DocShell> {
  const directory = checkout()
  const tools = partDirectory('commands')
  writeFileSync(join(tools, 'weir'), weirScript(), { mode: 0o755 })
  const path = `${tools}:${env['PATH'] ?? `${dirname(process.execPath)}:${process.env['PATH']}`}`
  const [registryPort, workerPort] = [await freePort(), await freePort()]
  const replaced = Object.entries({ ':8081': `:${registryPort}`, ':8083': `:${workerPort}`, ...replacements })
  const localize = (text: string) => replaced.reduce((result, [from, to]) => result.replaceAll(from, to), text)
  const command = (script: string) => ({
    ...{ file: 'bash', args: ['-ec', script], directory },
    env: { ...env, PATH: path },
  })
  let program: { readonly server: Server; readonly output: string; readonly where: string } | undefined

  /** Signals the program itself: npm and shells do not forward every signal, but return the program's exit code. */
  async function end(): Promise<number | null | undefined> {
    const { server } = program ?? {}
    const pid = server?.pid === undefined ? undefined : weirProcessOf(server.pid)
    if (server === undefined || pid === undefined) return server?.end(0)
    process.kill(pid, 'SIGINT')
    await until(`the end of process ${pid}`, STOP, () => server.hasExited()).catch(() => process.kill(pid, 'SIGKILL'))
    return server.end(0)
  }

  async function stop(): Promise<void> {
    if (program === undefined) return
    const { output, where } = program
    const code = await end()
    program = undefined
    expect(code, `${where}\n${tail(output)}`).toBe(0)
  }

  return {
    write(name, text) {
      mkdirSync(dirname(join(directory, name)), { recursive: true })
      writeFileSync(join(directory, name), localize(text))
    },
    async run({ text, line }) {
      const output = await run(command(localize(text)))
      expect(output.code, `${page}:${line}: ${text}\n${output.stdout}\n${output.stderr}`).toBe(0)
      return output
    },
    async start({ text, line }) {
      await stop()
      const kind = programOf(text)
      const output = join(partDirectory('program'), 'output')
      const options = optionsOf(kind, registryPort, workerPort)
      const server = startServer(command(`exec ${localize(text).trim()}${options}`), output)
      const where = `${page}:${line}: ${text}`
      program = { server, output, where }
      const urls = [
        ...(kind === 'worker' ? [] : [`http://127.0.0.1:${registryPort}/subjects`]),
        ...(kind === 'registry' ? [] : [`http://127.0.0.1:${workerPort}/connectors`]),
      ]
      await until(where, START, async () => {
        if (server.hasExited()) throw new Error(`${where} exited`)
        const listening = await Promise.all(urls.map((url) => responds(url)))
        return listening.every(Boolean) && (!isUp(kind) || areReady(output))
      }).catch((error: Error) => {
        throw new Error(`${error.message}\n${tail(output)}`)
      })
    },
    stop,
    kill: async () => void (await end()),
  }
}

type ProgramKind = 'npm start' | 'up' | 'operator' | 'registry' | 'worker'

function programOf(commands: string): ProgramKind {
  const [program] = /^npm start$|(?<=\bweir (?:-- )?)(?:up|operator|registry|worker)\b/.exec(commands.trim()) ?? []
  if (program === undefined) throw new Error(`no program that can be started: ${commands}`)
  return program as ProgramKind
}

function isUp(kind: ProgramKind): boolean {
  return kind === 'up' || kind === 'npm start'
}

/** Free ports for programs that run both runtimes; a registry or worker alone has `listeners` in its settings file. */
function optionsOf(kind: ProgramKind, registryPort: number, workerPort: number): string {
  const ports = ` --registry-port ${registryPort} --worker-port ${workerPort}`
  switch (kind) {
    case 'npm start':
      return ` --${ports} --console-port 0`
    case 'up':
      return `${ports} --console-port 0`
    case 'operator':
      return `${ports} --monitoring http://127.0.0.1:0`
    default:
      return ''
  }
}

/** Whether `weir up` has printed resources, and the last line of each says that it is Ready. */
function areReady(output: string): boolean {
  const states = readFileSync(output, 'utf8').matchAll(/^\{.*"name":"([^"]+)".*"ready":"(\w+)".*$/gm)
  const last = new Map([...states].map(([, name, ready]) => [name!, ready!]))
  return last.size > 0 && [...last.values()].every((ready) => ready === 'True')
}

function checkout(): string {
  const directory = partDirectory('docs')
  for (const name of ['charts', 'examples', 'README.md'])
    cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  for (const name of ['package.json', 'src', 'scripts', 'node_modules'])
    symlinkSync(join(ROOT, name), join(directory, name))
  return directory
}
