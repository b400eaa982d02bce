import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { forgetProcess, watchProcess } from './workspace.ts'

/** A running server, in a process of this machine or in a container. */
export type Server = {
  /** Undefined in a container. */
  readonly pid: number | undefined
  hasExited(): boolean
  /** Sends the signal and waits; kills it after `graceMs`. Returns the exit code, null if a signal ended it. */
  end(graceMs: number, signal?: 'SIGTERM' | 'SIGINT' | 'SIGQUIT'): Promise<number | null>
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
}

export type Command = {
  readonly file: string
  readonly args: readonly string[]
  readonly directory: string
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
  /** User id and group id; default: those of this process. */
  readonly uid?: number
}

/** Starts a process that is killed when this one exits. Its output is appended to `outputFile`. */
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

/** Runs a command until it exits. */
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

/** Polls until `ready` returns true. If the server exits or on timeout, throws an error with the end of the logs. */
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

/** Includes the `sbin` folders, which are not in the PATH of many users and CI systems. */
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

/** The last 30 lines of a file. */
export function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(-30).join('\n')
  } catch {
    return ''
  }
}
