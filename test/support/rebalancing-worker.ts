import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How workers respond for a connector during a rebalance. */
type RebalanceResponse = 'conflict' | 'unassigned'

/** Starts a proxy in front of a worker that responds for the connectors in `connectors` as during a rebalance. */
export async function startRebalancingWorker(workerUrl: string) {
  const connectors = new Map<string, RebalanceResponse>()
  const server = createServer((request, response) => {
    // The worker may close an idle connection just when a request uses it, and the operator may close its own.
    answer(request, response).catch(() => response.destroy())
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = '', method = 'GET' } = request
    const answers = connectors.get(/^\/connectors\/([^/?]+)/.exec(url)?.[1] ?? '')
    if (answers === 'conflict') {
      const message = 'Cannot complete request momentarily due to stale configuration (typically caused by a rebalance)'
      response.writeHead(409, { 'content-type': 'application/json' }).end(JSON.stringify({ error_code: 409, message }))
      return
    }
    const headers = { 'content-type': 'application/json' }
    const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }
    const forwarded = await fetch(`${workerUrl}${url}`, { method, headers, ...body })
    const text = await forwarded.text()
    const shown = answers === 'unassigned' ? text.replaceAll('"state":"RUNNING"', '"state":"UNASSIGNED"') : text
    response.writeHead(forwarded.status, headers).end(shown)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connectors,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
