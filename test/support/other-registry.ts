import { join } from 'node:path'
import { type Server, startServer, untilReady } from '../env/process.ts'
import { partDirectory } from '../env/workspace.ts'
import { responds } from './cli.ts'

const MAIN = join(import.meta.dirname, 'other-registry-main.ts')
const GRACE_MS = 60_000
const READY_TIMEOUT_MS = 120_000

export type OtherRegistry = {
  readonly url: string
  readonly port: number
  readonly kill: Server['kill']
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<void>
}

/**
 * Starts a registry of another kind: the program of the command in `WEIR_OTHER_REGISTRY`, which gets the variables
 * BOOTSTRAP, PORT, TOPIC and GROUP_ID, or a small one that takes part in elections as Confluent's registry does.
 */
export async function startOtherRegistry(
  { bootstrap, topic, groupId }: { readonly bootstrap: string; readonly topic: string; readonly groupId: string },
  port: number,
): Promise<OtherRegistry> {
  const url = `http://127.0.0.1:${port}`
  const directory = partDirectory('other-registry')
  const logFile = join(directory, 'output.log')
  const custom = process.env['WEIR_OTHER_REGISTRY']
  const env = { BOOTSTRAP: bootstrap, PORT: String(port), TOPIC: topic, GROUP_ID: groupId }
  const args = [MAIN, bootstrap, String(port), topic, groupId]
  const server = startServer(
    custom === undefined
      ? { file: process.execPath, args, directory }
      : { file: '/bin/sh', args: ['-c', `exec ${custom}`], directory, env },
    logFile,
  )
  const what = { what: 'another registry', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => responds(`${url}/subjects`))
  return { url, port, kill: () => server.kill(), stop: async () => void (await server.end(GRACE_MS)) }
}
