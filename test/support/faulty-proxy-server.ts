import { createServer, type IncomingMessage, request as overHttp, type ServerResponse } from 'node:http'
import { request as overHttps } from 'node:https'
import type { AddressInfo } from 'node:net'

/** How the proxied server appears to behave: normally (`well`), or with a fault. */
export type ProxyBehavior =
  | 'well'
  | 'closes the connection'
  | 'does not respond'
  | 'responds after 9 s'
  | 'responds after 30 s'
  | 'returns status 409'
  | 'returns status 500'
  | 'returns HTML'
  | 'returns unexpected JSON'

/** The request is forwarded immediately; the response is delayed by this time. */
const DELAY_MS: Readonly<Partial<Record<ProxyBehavior, number>>> = {
  'responds after 9 s': 9_000,
  'responds after 30 s': 30_000,
}

export type FaultyProxy = {
  readonly url: string
  /** Number of requests since the last call of `behave`. */
  readonly asked: () => number
  /** Changes the behaviour. Requests that are waiting for a response are then forwarded. */
  behave(how: ProxyBehavior): void
  /** Closes all connections. */
  cut(): void
  stop(): void
}

/** The proxied server, and the CA certificate that the proxy trusts for it. */
export type Target = { readonly url: string; readonly ca?: string }

/** Starts a proxy in front of `target`. It runs until `stop` is called. */
export async function openFaultyProxy(target: Target): Promise<FaultyProxy> {
  let behaviour: ProxyBehavior = 'well'
  let asked = 0
  let waiting: (() => void)[] = []
  const server = createServer((incoming, answer) => {
    asked += 1
    if (behaviour === 'does not respond') waiting.push(() => pass(target, incoming, answer))
    else if (behaviour === 'well' || DELAY_MS[behaviour] !== undefined)
      pass(target, incoming, answer, DELAY_MS[behaviour])
    else misbehave(behaviour, incoming, answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    cut: () => server.closeAllConnections(),
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
    behave(how) {
      behaviour = how
      asked = 0
      const late = waiting
      waiting = []
      for (const answer of late) answer()
    },
  }
}

function pass({ url: base, ca }: Target, incoming: IncomingMessage, answer: ServerResponse, lateMs = 0): void {
  const { method, url, headers } = incoming
  const request = base.startsWith('https:') ? overHttps : overHttp
  const onward = request(new URL(url ?? '/', base), { method, headers, ...(ca && { ca }) }, (answered) => {
    const give = () => {
      answer.writeHead(answered.statusCode ?? 502, answered.headers)
      answered.pipe(answer)
    }
    if (lateMs === 0) give()
    else setTimeout(give, lateMs).unref()
  })
  onward.once('error', () => answer.destroy())
  answer.once('close', () => onward.destroy())
  incoming.pipe(onward)
}

function misbehave(how: ProxyBehavior, incoming: IncomingMessage, answer: ServerResponse): unknown {
  incoming.resume()
  switch (how) {
    case 'closes the connection':
      return incoming.socket.destroy()
    case 'returns status 500':
      return answer
        .writeHead(500, { 'content-type': 'application/json' })
        .end('{"error_code":500,"message":"simulated failure"}')
    case 'returns status 409':
      return answer
        .writeHead(409, { 'content-type': 'application/json' })
        .end('{"error_code":409,"message":"Cannot complete request momentarily due to stale configuration"}')
    case 'returns HTML':
      return answer.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
    default:
      return answer.writeHead(200, { 'content-type': 'application/json' }).end('{"unexpected":[1,{"a":null}]}')
  }
}
