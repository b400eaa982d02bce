import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { type HttpServer, startHttpServer } from '../../src/http/server.ts'

const KIBIBYTE = 1024
const LARGE = 100 * KIBIBYTE

/** A server whose requests wait in their handler until the test continues them. */
type HoldingServer = {
  readonly url: string
  readonly held: (() => void)[]
  /** How many responses of requests were closed. */
  closedCount(): number
}

let server: HttpServer | undefined
afterEach(() => server?.stop(0))

async function start(limits: { bodiesBytesMax?: number; responsesBytesMax?: number }): Promise<HoldingServer> {
  const held: (() => void)[] = []
  let closed = 0
  const hold = () => new Promise<void>((resolve) => held.push(resolve))
  server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: ['application/json'],
    produces: ['application/json'],
    limits: { ...limits, bodiesWaitTimeoutMs: 60_000 },
    routes: (app) => {
      app.addHook('onRequest', (_, reply, done) => {
        reply.raw.once('close', () => {
          closed += 1
        })
        done()
      })
      app.get('/large', async () => {
        await hold()
        return 'x'.repeat(LARGE)
      })
      app.post('/held', async () => {
        await hold()
        return {}
      })
      app.post('/body', async () => ({}))
    },
  })
  return { url: server.urls[0] ?? '', held, closedCount: () => closed }
}

function open(url: string, request: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined).write(request)
  return socket
}

const getLarge = 'GET /large HTTP/1.1\r\nhost: x\r\n\r\n'
const post = (path: string) => {
  const body = `"${'x'.repeat(LARGE)}"`
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

describe('a client that disconnects', () => {
  it('before its large response is sent does not use up the byte budget of responses', async () => {
    const { url, held, closedCount } = await start({ responsesBytesMax: 2 * LARGE })
    for (let client = 1; client <= 4; client++) {
      const socket = open(url, getLarge)
      await expect.poll(() => held.length).toBe(client)
      socket.destroy()
      await expect.poll(closedCount).toBe(client)
      held.at(-1)?.()
    }
    const response = fetch(`${url}/large`)
    await expect.poll(() => held.length).toBe(5)
    held.at(-1)?.()
    expect((await response).status).toBe(200)
  })

  it('after it has sent a body that waits for the byte budget does not use up that budget', async () => {
    const { url, held, closedCount } = await start({ bodiesBytesMax: 1.5 * LARGE })
    const first = open(url, post('/held'))
    await expect.poll(() => held.length).toBe(1)
    const second = open(url, post('/body'))
    // The request is written, and its body waits for the budget that the first request holds.
    await expect.poll(() => second.bytesWritten).toBeGreaterThan(LARGE)
    await new Promise((resolve) => setImmediate(resolve))
    second.destroy()
    await expect.poll(closedCount).toBe(1)
    held[0]?.()
    const response = await fetch(`${url}/body`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `"${'x'.repeat(LARGE)}"`,
      signal: AbortSignal.timeout(10_000),
    })
    expect(response.status).toBe(200)
    first.destroy()
  })
})
