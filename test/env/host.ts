import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Part, Started } from './part.ts'
import { type PartName, parts } from './parts.ts'

/** The response to a test process: the address of a part, or the reason why this machine cannot provide it. */
export type Answer = { readonly address: unknown } | { readonly missing: string }

export type Host = { readonly url: string; close(): Promise<void> }

/**
 * Owns the parts of a test run, in the vitest main process, which outlives the test processes. A part is started once,
 * when a test first requests it (`GET /<part>`), and stopped at the end of the run.
 */
export async function openHost(): Promise<Host> {
  const started = new Map<Part<unknown>, Promise<Started<unknown>>>()
  const bring = async <Address>(part: Part<Address>): Promise<Address> => {
    const starting = started.get(part) ?? part.start(bring)
    started.set(part, starting)
    return (await starting).address as Address
  }
  const answer = async (name: string): Promise<Answer> => {
    const part: Part<unknown> = parts[name as PartName]
    const found = await part.find()
    return found.how === 'missing' ? { missing: found.detail } : { address: await bring(part) }
  }
  const server = createServer((request, response) => {
    answer(request.url?.slice(1) ?? '').then(
      (found) => response.end(JSON.stringify(found)),
      (error) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    )
  })
  return {
    url: await listen(server),
    async close() {
      server.closeAllConnections()
      server.close()
      await Promise.allSettled([...started.values()].map(async (starting) => (await starting).stop()))
    },
  }
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}
