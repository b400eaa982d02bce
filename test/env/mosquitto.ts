import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findDebian, unpackDebian, withDebian } from './debian.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { startServer, untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

/** What `startMosquitto` needs. */
export type MosquittoAddress = { readonly debian: string }

export type Mosquitto = {
  readonly port: number
  stop(): Promise<void>
}

export type MosquittoOptions = {
  /** Lines of the configuration after those of the listener. */
  readonly settings?: readonly string[]
  /** Default: a free one. */
  readonly port?: number
  /** Keeps sessions and messages; default: a new one. */
  readonly directory?: string
}

const PACKAGES = ['mosquitto']
const READY_TIMEOUT_MS = 180_000
const SHUTDOWN_MS = 30_000

/** Mosquitto, an MQTT broker, from Debian's packages. Each test starts its own. */
export function mosquittoPart(name: string): Part<MosquittoAddress> {
  return {
    name,
    version: 'any',
    find: () => findDebian(PACKAGES),
    start: async () => ({ address: { debian: await unpackDebian(PACKAGES) }, stop: async () => {} }),
  }
}

/** Starts a broker that accepts everybody unless the settings say otherwise. */
export async function startMosquitto(
  { debian }: MosquittoAddress,
  { settings = ['allow_anonymous true'], port: chosen, directory = partDirectory('mosquitto') }: MosquittoOptions = {},
): Promise<Mosquitto> {
  const port = chosen ?? (await freePort())
  await mkdir(join(directory, 'data'), { recursive: true })
  const file = join(directory, 'mosquitto.conf')
  const lines = [
    `listener ${port} 127.0.0.1`,
    'user root',
    'persistence true',
    `persistence_location ${directory}/data/`,
  ]
  // The default drops messages of a client that is away above 1,000.
  await writeFile(file, `${[...lines, 'max_queued_messages 0', ...settings].join('\n')}\n`)
  const logFile = join(directory, 'output.log')
  const server = startServer(
    withDebian(debian, { file: '/usr/sbin/mosquitto', args: ['-c', file], directory }),
    logFile,
  )
  const what = { what: 'mosquitto', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
  await untilReady(server, what, () => accepts(`127.0.0.1:${port}`))
  return { port, stop: async () => void (await server.end(SHUTDOWN_MS)) }
}
