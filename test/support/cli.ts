import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, type Output, run, type Server, startServer, untilReady } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'

const FILE = join(import.meta.dirname, '../../src/cli/weir.ts')
/** The Node options in the shebang line of the command. */
const NODE_ARGS = /^#!.* node (.+)$/m.exec(readFileSync(FILE, 'utf8'))![1]!.split(' ')
const READY_TIMEOUT_MS = 300_000
const GRACE_MS = 60_000

/** A running Weir program, in a child process that is killed with this one. */
export type Program = Pick<Server, 'pid' | 'kill'> & {
  /** Working directory. */
  readonly directory: string
  readonly logFile: string
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<void>
  /** Sends SIGTERM and returns the exit code, which is null when the program had to be killed after `graceMs`. */
  terminate(graceMs: number): Promise<number | null>
  /** Sends SIGINT, as Ctrl-C does, and returns the exit code, which is null when the program had to be killed. */
  interrupt(): Promise<number | null>
}

/**
 * The command `weir ARGS` in `directory`: from `src`, or that of `WEIR_CLI`, which is a build for tests with real parts.
 * `program`: the file of another version (`olderProgram`).
 */
export function weirCommand(
  directory: string,
  args: readonly string[],
  nodeArgs: readonly string[] = [],
  program = process.env['WEIR_CLI'] ?? FILE,
): Command {
  return {
    file: process.execPath,
    args: [...NODE_ARGS, ...nodeArgs, program, ...args],
    directory,
  }
}

/** A script that executes `weir`, as an installed package provides it. */
export function weirScript(): string {
  const { file, args } = weirCommand('.', [])
  return `#!/bin/sh\nexec ${[file, ...args].join(' ')} "$@"\n`
}

/** Runs `weir ARGS` until it exits. */
export function runWeir(directory: string, ...args: readonly string[]): Promise<Output> {
  return run(weirCommand(directory, args))
}

export type StartOptions = {
  readonly directory?: string
  readonly nodeArgs?: readonly string[]
  /** See `weirCommand`. */
  readonly program?: string | undefined
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts `weir PROGRAM ARGS` and waits until `isReady` returns true. */
export async function startWeir(
  args: readonly [program: string, ...rest: string[]],
  isReady: (logFile: string) => Promise<boolean> | boolean,
  { directory, nodeArgs, program, env }: StartOptions = {},
): Promise<Program> {
  const own = partDirectory(args[0])
  const logFile = join(own, 'output.log')
  const command = weirCommand(directory ?? own, args, nodeArgs, program)
  const server = startServer(env === undefined ? command : { ...command, env }, logFile)
  const what = { what: `weir ${args[0]}`, logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => isReady(logFile))
  return {
    pid: server.pid,
    directory: command.directory,
    logFile,
    kill: () => server.kill(),
    stop: async () => void (await server.end(GRACE_MS)),
    terminate: (graceMs) => server.end(graceMs),
    interrupt: () => server.end(GRACE_MS, 'SIGINT'),
  }
}

/** Whether a request to the URL succeeds within 2 s. */
export async function responds(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

/** `--set KEY=VALUE` for each setting. */
export function setArgs(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
}
