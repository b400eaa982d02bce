import { join } from 'node:path'
import { freePort } from '../env/ports.ts'
import { type Command, type Output, run, startServer, untilReady } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'

/** The command as its first line has it. */
const CLI = ['--max-semi-space-size=8', join(import.meta.dirname, '../../src/cli/weir.ts')]
const READY_TIMEOUT_MS = 30_000
const GRACE_MS = 10_000

export type WorkerOptions = {
  /** `['--bootstrap', 'host:port']` or `['--data', directory]`. */
  readonly log: readonly string[]
  readonly groupId: string
  readonly settings?: Readonly<Record<string, string>>
  readonly nodeArgs?: readonly string[]
}
export type WeirWorker = {
  readonly url: string
  readonly pid: number | undefined
  /** Where relative file names of its connectors begin. */
  readonly directory: string
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM, and waits for its end. */
  stop(): Promise<void>
}

/** A worker of ours as people run it: `weir worker` in a process, which dies with this one. Waits until it serves. */
export async function startWorkerProcess(options: WorkerOptions): Promise<WeirWorker> {
  const { url, command } = await workerCommand(options)
  const { directory } = command
  const logFile = join(directory, 'worker.log')
  const server = startServer(command, logFile)
  const what = `weir worker ${options.log.join(' ')}`
  await untilReady(server, { what, logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }, () =>
    answers(`${url}/connectors`),
  )
  return {
    url,
    pid: server.pid,
    directory,
    kill: () => server.kill(),
    stop: async () => void (await server.end(GRACE_MS)),
  }
}

/** For a worker that is expected to end by itself. */
export async function runWorkerProcess(options: WorkerOptions): Promise<Output> {
  return run((await workerCommand(options)).command)
}

async function workerCommand(options: WorkerOptions): Promise<{ url: string; command: Command }> {
  const url = `http://127.0.0.1:${await freePort()}`
  const settings = { listeners: url, ...storage(options.groupId), ...options.settings }
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const args = [...(options.nodeArgs ?? []), ...CLI, 'worker', ...options.log, ...set]
  return { url, command: { file: process.execPath, args, directory: partDirectory('worker') } }
}

/** Topics of its own for each group, on a Kafka that all tests share, named as `startJavaConnect` names them. */
function storage(groupId: string): Readonly<Record<string, string>> {
  const names = { config: 'configs', offset: 'offsets', status: 'status' }
  const topics = Object.entries(names).flatMap(([kind, name]) => [
    [`${kind}.storage.topic`, `${groupId}-${name}`],
    [`${kind}.storage.replication.factor`, '1'],
  ])
  return { 'group.id': groupId, ...Object.fromEntries(topics) }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
