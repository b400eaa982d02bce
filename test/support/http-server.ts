import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A received request with its complete body. */
export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** The response to a request. `cut` closes the connection, `half` closes it within the response, `slow` stalls. */
export type Reply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'half'
  | 'slow'

export type Responder = (seen: ReceivedRequest) => Reply | Promise<Reply>

export const OK: Reply = { status: 200 }

/** Starts a server for the running test. It answers as `react` decides and records all requests in `seen`. */
export async function startHttpServer(react: Responder) {
  const seen: ReceivedRequest[] = []
  let connections = 0
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })
  server.on('connection', () => {
    connections += 1
  })
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: await text(request) }
    seen.push(one)
    const reply = await react(one)
    if (reply === 'cut') return void request.socket.destroy()
    if (reply === 'slow') return void response.writeHead(200, { 'content-length': '10' }).write('slow')
    if (reply === 'half') {
      response.writeHead(200, { 'content-length': '10' })
      return void response.write('half', () => request.socket.destroy())
    }
    response.writeHead(reply.status, reply.headers).end(reply.body)
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    /** Number of connections opened so far. */
    connections: () => connections,
  }
}

/** Returns the replies in order, then the last one for all further requests. */
export function repliesInOrder(...replies: readonly Reply[]): Responder {
  let turn = 0
  return () => replies[Math.min(turn++, replies.length - 1)]!
}
