import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { forgetProcess, watchProcess } from './workspace.ts'

/** A server that was started for the tests, as a process of this machine or in a container. */
export type Server = {
  /** Undefined in a container. */
  readonly pid: number | undefined
  hasExited(): boolean
  /** Asks it to end, and waits; after `graceMs` it is killed. Its exit code, null when a signal ended it. */
  end(graceMs: number, signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT'): Promise<number | null>
  /** At once and without asking (SIGKILL): what these servers hold is thrown away. Resolves when it is gone. */
  kill(): Promise<void>
}

export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly directory: string
  /** Beside this process's own. */
  readonly env?: Readonly<Record<string, string>>
  /** Another user and group than this process's. */
  readonly uid?: number
}

/** Starts a process that dies with this one; what it prints goes to `outputFile`. */
export function startServer(command: Command, outputFile: string): Server {
  const output = openSync(outputFile, 'a')
  const child = spawnWatched(command, ['ignore', output, output])
  closeSync(output)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  return {
    pid: child.pid,
    hasExited: () => hasExited(child),
    async end(graceMs, signal = 'SIGTERM') {
      child.kill(signal)
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })])
      child.kill('SIGKILL')
      await exited
      return child.exitCode
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

export type Output = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Runs a command to its end. */
export function run(command: Command): Promise<Output> {
  const child = spawnWatched(command, ['ignore', 'pipe', 'pipe'])
  const collected = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    collected.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    collected.stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, ...collected }))
  })
}

/** Asks again and again until `ready`; fails with the end of the log when the server died or the time is over. */
export async function untilReady(
  server: Server,
  options: { readonly what: string; readonly logFiles: readonly string[]; readonly timeoutMs: number },
  ready: () => Promise<boolean> | boolean,
): Promise<void> {
  const deadline = performance.now() + options.timeoutMs
  while (!(await ready())) {
    const reason = server.hasExited() ? 'died' : performance.now() > deadline ? 'was not ready in time' : undefined
    if (reason !== undefined) {
      await server.kill()
      throw new Error(`${options.what} ${reason}. The end of its log:\n${options.logFiles.map(tail).join('\n')}`)
    }
    await sleep(25)
  }
}

/** With the folders of what systems keep for root, which the PATH of many a user and of many a CI leaves out. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`

function spawnWatched({ file, args, directory, env, uid }: Command, stdio: StdioOptions): ChildProcess {
  const user = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(file, args, { cwd: directory, stdio, env: { ...process.env, PATH, ...env }, ...user })
  const { pid } = child
  if (pid !== undefined) {
    watchProcess(pid)
    child.once('exit', () => forgetProcess(pid))
  }
  return child
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

/** The last lines of a file. */
export function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(-30).join('\n')
  } catch {
    return ''
  }
}
