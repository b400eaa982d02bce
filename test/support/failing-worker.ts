import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

const WORKER_ID = '127.0.0.1:8083'

type Config = Readonly<Record<string, string>>

/** Starts a worker with the REST API of Kafka Connect on which the only task of each connector fails with this trace. */
export async function startFailingWorker(trace: string) {
  const configs = new Map<string, Config>()
  let lists = 0
  const info = (name: string, config: Config) => ({
    name,
    config,
    type: 'source',
    tasks: [{ connector: name, task: 0 }],
  })
  const status = (name: string) => ({
    name,
    type: 'source',
    connector: { state: 'RUNNING', worker_id: WORKER_ID },
    tasks: [{ id: 0, state: 'FAILED', worker_id: WORKER_ID, trace }],
  })
  const answer = async (request: IncomingMessage): Promise<{ readonly code: number; readonly body?: unknown }> => {
    const [, collection, name = '', what] = (request.url ?? '').split(/[/?]/)
    if (collection !== 'connectors') return { code: 200, body: { version: '4.3.1', commit: '', kafka_cluster_id: '' } }
    if (request.method === 'POST' && what === 'restart') return { code: 204 }
    if (request.method === 'POST') {
      const { name: created, config } = JSON.parse(await text(request)) as { name: string; config: Config }
      configs.set(created, config)
      return { code: 201, body: info(created, config) }
    }
    if (name.startsWith('expand')) {
      lists += 1
      const expanded = [...configs].map(([one, config]) => [one, { info: info(one, config), status: status(one) }])
      return { code: 200, body: Object.fromEntries(expanded) }
    }
    const config = configs.get(name)
    if (config === undefined) return { code: 404, body: { error_code: 404, message: `Connector ${name} not found` } }
    return { code: 200, body: what === 'status' ? status(name) : info(name, config) }
  }
  const server = createServer((request, response) => {
    answer(request).then(
      ({ code, body }) => response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => response.destroy(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How often all connectors were listed. */
    lists: () => lists,
  }
}
