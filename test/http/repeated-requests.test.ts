import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { CompletedRequest } from '../../src/http/access-log.ts'
import { startHttpServer } from '../../src/http/server.ts'

const JSON_TYPE = 'application/json'
const GET = 'GET /state/a HTTP/1.1\r\nHost: localhost\r\n\r\n'

/** Starts a server whose routes respond with the number of their calls, and counts the requests that Node.js parses. */
async function serve() {
  const record = { revision: 1, calls: 0, parsed: 0, completed: [] as CompletedRequest[], port: 0 }
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: [JSON_TYPE],
    produces: [JSON_TYPE],
    compress: true,
    addsRequestId: true,
    onResponse: (request) => record.completed.push(request),
    stateRevision: () => record.revision,
    routes: (app) => {
      app.get('/state/*', { config: { metric: 'state' } }, async (request) => {
        request.revision = record.revision
        record.calls += 1
        return { url: request.url, calls: record.calls }
      })
      app.get('/text', async (request) => {
        request.revision = record.revision
        return { text: 'Größe, 大きさ, 📏'.repeat(200) }
      })
      app.get('/other', async () => ({ other: true }))
      app.post('/echo', async (request) => ({ echo: request.body }))
    },
  })
  const { port } = new URL(server.urls[0]!)
  record.port = Number(port)
  const onRequest = (message: unknown) => {
    if ((message as { socket: Socket }).socket.localPort === record.port) record.parsed += 1
  }
  subscribe('http.server.request.start', onRequest)
  onTestFinished(async () => {
    unsubscribe('http.server.request.start', onRequest)
    await server.stop(0)
  })
  return record
}

type Kind = 'get' | 'post' | 'chunked'

/** A request, and what the body of its response contains. The body of a POST request contains a GET request. */
function exchange(kind: Kind, path: string): { readonly request: string; readonly answer: Record<string, unknown> } {
  const get = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  if (kind === 'get') return { request: get, answer: path === '/other' ? { other: true } : { url: path } }
  const body = JSON.stringify({ text: get })
  const post = `POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: ${JSON_TYPE}\r\n`
  const answer = { echo: { text: get } }
  if (kind === 'post') return { request: `${post}Content-Length: ${body.length}\r\n\r\n${body}`, answer }
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  return { request: `${post}Transfer-Encoding: chunked\r\n\r\n${chunks}`, answer }
}

/** A connection that sends texts, and splits what it receives into responses. */
async function connectTo(port: number) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const responses: string[] = []
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    received += chunk
    for (let length = responseLength(received); length <= received.length; length = responseLength(received)) {
      responses.push(received.slice(0, length))
      received = received.slice(length)
    }
  })
  onTestFinished(() => void socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  const until = (count: number) => expect.poll(() => responses.length, { interval: 1 }).toBe(count)
  return {
    socket,
    responses,
    send: async (text: string) => {
      if (text !== '') await new Promise<void>((resolve) => socket.write(text, 'latin1', () => resolve()))
    },
    until,
    /** Sends a text that is one request, and returns the response. */
    ask: async (text: string) => {
      const before = responses.length
      socket.write(text, 'latin1')
      await until(before + 1)
      return responses[before]!
    },
  }
}

/** The length of the first response, and more than the length of the text if that is not complete. */
function responseLength(text: string): number {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return Number.POSITIVE_INFINITY
  return end + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
}

const withoutId = (response: string) => response.replace(/x-request-id: [0-9a-f-]{36}/, '').replace(/Date: .*/, '')
const bodyOf = (response: string) => JSON.parse(response.slice(response.indexOf('\r\n\r\n'))) as Record<string, unknown>

describe('repeated requests', () => {
  it.each([
    ['without further headers', GET],
    ['with headers', 'GET /state/a?b=1 HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n'],
    ['for text beyond ASCII', 'GET /text HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['for a compressed response', 'GET /text HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n'],
  ])('have the same responses as parsed ones, with a new ID each (%s)', async (_, request) => {
    const server = await serve()
    const { ask } = await connectTo(server.port)
    const responses: string[] = []
    for (let at = 0; at < 6; at++) responses.push(await ask(request))
    // The first one is not in the cache, the second one is, and two others show that the client repeats its headers.
    expect(server.parsed).toBe(4)
    // Fastify sends the headers of the first one in another order.
    expect(new Set(responses.slice(1).map(withoutId)).size).toBe(1)
    expect(withoutId(responses[0]!).split('\r\n').toSorted()).toEqual(withoutId(responses[5]!).split('\r\n').toSorted())
    expect(new Set(responses.map((response) => /x-request-id: (.+)\r/.exec(response)?.[1])).size).toBe(6)
    expect(responses[5]).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT\r\n/)
    expect(server.completed.map(({ status, sentBytes }) => [status, sentBytes])).toEqual(
      responses.map((response) => [200, response.length - response.indexOf('\r\n\r\n') - 4]),
    )
  })

  it('are answered again by the route when the state has changed', async () => {
    const server = await serve()
    const { ask } = await connectTo(server.port)
    for (let at = 0; at < 4; at++) expect(bodyOf(await ask(GET))).toMatchObject({ calls: 1 })
    server.revision = 2
    for (let at = 0; at < 4; at++) expect(bodyOf(await ask(GET))).toMatchObject({ calls: 2 })
  })

  it('are parsed if they have a request ID or an expectation', async () => {
    const server = await serve()
    const { ask, send, until, responses } = await connectTo(server.port)
    const withHeader = (header: string) => GET.replace('\r\n\r\n', `\r\n${header}\r\n\r\n`)
    for (let at = 0; at < 4; at++) {
      expect(await ask(withHeader('X-Request-Id: mine'))).toContain('\r\nx-request-id: mine\r\n')
    }
    for (let at = 0; at < 4; at++) {
      await send(withHeader('Expect: 100-continue'))
      await until(4 + 2 * (at + 1))
    }
    expect(responses.filter((response) => response.startsWith('HTTP/1.1 100 Continue\r\n')).length).toBe(4)
    expect(server.parsed).toBe(8)
  })

  it('close the connection if they say so', async () => {
    const server = await serve()
    const request = GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    for (let at = 0; at < 4; at++) {
      const { socket, ask } = await connectTo(server.port)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      expect(await ask(request)).toContain('\r\nConnection: close\r\n')
      await closed
    }
    expect(server.parsed).toBe(4)
  })

  it('are not looked for in the body of another request', async () => {
    const server = await serve()
    const { ask, send, until, responses } = await connectTo(server.port)
    for (let at = 0; at < 4; at++) await ask(GET)
    const text = GET.replace('/state/a', '/text')
    for (let at = 0; at < 4; at++) await ask(text)
    const post = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    await send(`${post}Content-Length: ${GET.length + 2}\r\n\r\n`)
    await new Promise((resolve) => setImmediate(resolve))
    await send(GET)
    await new Promise((resolve) => setImmediate(resolve))
    await send('""')
    await until(9)
    expect(responses[8]).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('are not looked for in the headers of another request', async () => {
    const server = await serve()
    const { ask, send, until, responses } = await connectTo(server.port)
    for (let at = 0; at < 5; at++) await ask(GET)
    await send('GET /other HTTP/1.1\r\nX-Text: ')
    // A response from the server shows that it has read what was sent before on the other connection.
    const other = await connectTo(server.port)
    await other.ask(GET)
    await send(GET)
    await until(6)
    expect(bodyOf(responses[5]!)).toEqual({ other: true })
  })

  it('have a response each when a client sends two at once', async () => {
    const server = await serve()
    const { send, until, responses } = await connectTo(server.port)
    for (let at = 1; at <= 6; at++) {
      await send(GET + GET)
      await until(2 * at)
    }
    expect(responses.map(bodyOf)).toEqual(Array.from({ length: 12 }, () => ({ url: '/state/a', calls: 1 })))
  })

  it('get the responses in the order of all requests, however these are divided', { tags: ['slow'] }, async () => {
    const server = await serve()
    const requests = fc.array(
      fc.record({
        path: fc.constantFrom('/state/a', '/state/b', '/other'),
        kind: fc.constantFrom<Kind[]>('get', 'get', 'get', 'post', 'chunked'),
        cut: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true })),
        isPaused: fc.boolean(),
        isAwaited: fc.boolean(),
      }),
      { minLength: 10, maxLength: 40 },
    )
    const property = fc.asyncProperty(requests, async (all) => {
      const { send, until, responses, socket } = await connectTo(server.port)
      const expected: Record<string, unknown>[] = []
      for (const { path, kind, cut, isPaused, isAwaited } of all) {
        const { request, answer } = exchange(kind, path)
        expected.push(answer)
        await send(request.slice(0, Math.floor(cut * request.length)))
        if (isPaused) await new Promise((resolve) => setImmediate(resolve))
        await send(request.slice(Math.floor(cut * request.length)))
        if (isAwaited) await until(expected.length)
      }
      await until(expected.length)
      socket.destroy()
      expect(responses.map(bodyOf)).toMatchObject(expected)
    })
    await fc.assert(property, { numRuns: 20 })
    expect(server.parsed).toBeLessThan(server.completed.length)
  })
})
