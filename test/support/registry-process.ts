import { join } from 'node:path'
import { freePort } from '../env/ports.ts'
import { startServer, untilReady } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'

/** The command as its first line has it. */
const CLI = ['--max-semi-space-size=8', join(import.meta.dirname, '../../src/cli/weir.ts')]
const READY_TIMEOUT_MS = 30_000
const GRACE_MS = 10_000

export type RegistryProcess = {
  readonly url: string
  readonly pid: number | undefined
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM, and waits for its end. */
  stop(): Promise<void>
}

/**
 * A registry as people run it: `weir registry` in a process, which dies with this one. Waits until it is ready. `log` is
 * `['--bootstrap', 'host:port']` or `['--data', directory]`.
 */
export async function startRegistryProcess(
  log: readonly string[],
  settings: Readonly<Record<string, string>>,
  nodeArgs: readonly string[] = [],
): Promise<RegistryProcess> {
  const directory = partDirectory('registry')
  const url = settings['listeners']?.split(',')[0] ?? `http://127.0.0.1:${await freePort()}`
  const all = { listeners: url, 'brokerstore.topic.replication.factor': '1', ...settings }
  const set = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const logFile = join(directory, 'registry.log')
  const args = [...nodeArgs, ...CLI, 'registry', ...log, ...set]
  const server = startServer({ file: process.execPath, args, directory }, logFile)
  const what = { what: 'weir registry', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => isReady(url))
  return { url, pid: server.pid, kill: () => server.kill(), stop: async () => void (await server.end(GRACE_MS)) }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
