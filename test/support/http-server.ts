import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A request as it arrived, in whole. */
export type Seen = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** How a request is answered; `cut` breaks the connection off, `half` does so amid the answer, `slow` stands still there. */
export type Reply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string }
  | 'cut'
  | 'half'
  | 'slow'

export type Reacts = (seen: Seen) => Reply | Promise<Reply>

export const OK: Reply = { status: 200 }

/** A server of the running test's own that answers as it is told to, and keeps what it saw. */
export async function startHttpServer(react: Reacts) {
  const seen: Seen[] = []
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
    /** How many were opened so far. */
    connections: () => connections,
  }
}

/** Replies in turn; the last one is for all that follow. */
export function inTurn(...replies: readonly Reply[]): Reacts {
  let turn = 0
  return () => replies[Math.min(turn++, replies.length - 1)]!
}
