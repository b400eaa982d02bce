import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findDebian, unpackDebian, withDebian } from './debian.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { type Command, startServer, untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

/** URL of its DevTools protocol. */
export type ChromiumAddress = { readonly url: string }

/** A host name that resolves to 127.0.0.1 in this browser, as that of a page that uses DNS rebinding. */
export const REBOUND_HOST = 'rebound.example'

const PACKAGES = ['chromium', 'fonts-dejavu-core']
const READY_TIMEOUT_MS = 180_000
const SHUTDOWN_MS = 10_000
/** The browser loads nothing by itself, and its profile is new. */
const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages of several tests are open at once, and all of them must be drawn.
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
  '--disable-backgrounding-occluded-windows',
  `--host-resolver-rules=MAP ${REBOUND_HOST} 127.0.0.1`,
]

/**
 * The browser of the tests of the console: `CHROMIUM_BINARY`, an installed `chromium`, or that of Debian's packages. It is
 * shared by all tests of a run, which open contexts of their own.
 */
export function chromiumPart(name: string): Part<ChromiumAddress> {
  return {
    name,
    version: 'any',
    async find() {
      const named = process.env['CHROMIUM_BINARY']
      if (named) return { how: 'environment', detail: named, cached: true }
      const installed = installedChromium()
      return installed ? { how: 'toolchain', detail: installed, cached: true } : findDebian(PACKAGES)
    },
    async start() {
      const directory = partDirectory(name)
      const port = await freePort()
      const args = [...FLAGS, `--remote-debugging-port=${port}`, `--user-data-dir=${join(directory, 'profile')}`]
      const logFile = join(directory, 'output.log')
      const server = startServer(await chromiumCommand([...args, 'about:blank'], directory), logFile)
      const what = { what: 'Chromium', logFiles: [logFile], timeoutMs: READY_TIMEOUT_MS }
      await untilReady(server, what, () => accepts(`127.0.0.1:${port}`))
      return { address: { url: `http://127.0.0.1:${port}` }, stop: async () => void (await server.end(SHUTDOWN_MS)) }
    },
  }
}

async function chromiumCommand(args: readonly string[], directory: string): Promise<Command> {
  const file = process.env['CHROMIUM_BINARY'] || installedChromium()
  if (file !== undefined) return { file, args, directory }
  return withDebian(await unpackDebian(PACKAGES), { file: 'chromium', args, directory })
}

function installedChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, 'chromium')).find((file) => existsSync(file))
}
