import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before a runtime that records each request which may write. */
export type CountingProxy = {
  readonly url: string
  /** Number of all requests so far. */
  requests(): number
  /** Method and path of each request that may write. */
  readonly writes: readonly string[]
  stop(): void
}

/** Requests with a body that only read: a lookup of a schema, a compatibility check, a validation of a configuration. */
const READS = [
  /^POST \/subjects\/[^/]+(\?|$)/,
  /^POST \/compatibility\//,
  /^PUT \/connector-plugins\/.*\/validate(\?|$)/,
]

/** Starts a proxy before the server at `target`. */
export async function openCountingProxy(target: string): Promise<CountingProxy> {
  const writes: string[] = []
  let requests = 0
  const server = createServer((incoming, response) => {
    const { method = '', url = '/', headers } = incoming
    const line = `${method} ${url}`
    requests += 1
    if (!['GET', 'HEAD'].includes(method) && !READS.some((pattern) => pattern.test(line))) writes.push(line)
    const forwarded = request(new URL(url, target), { method, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(response)
    })
    forwarded.once('error', () => response.destroy())
    response.once('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    writes,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
