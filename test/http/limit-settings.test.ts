import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import type { HttpLimits } from '../../src/http/limit-settings.ts'
import { type HttpServerOptions, startHttpServer } from '../../src/http/server.ts'
import { describeConcurrently, poll, whenTestEnds } from '../support/concurrent-tests.ts'

const metrics = createMetrics()

async function start(limits: Partial<HttpLimits>, options: Partial<HttpServerOptions> = {}): Promise<string> {
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: ['application/json'],
    produces: ['application/json'],
    metrics,
    limits,
    routes: (app) => {
      app.get('/', async () => ({}))
      app.post('/', async (request) => ({ bytes: JSON.stringify(request.body).length }))
      app.get('/large', async () => 'x'.repeat(8_000_000))
    },
    ...options,
  })
  whenTestEnds(() => server.stop(0))
  return server.urls[0] ?? ''
}

async function limited(reason: string): Promise<number> {
  const values = await metrics.getSingleMetric('weir_http_limited_total')?.get()
  return values?.values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0
}

const post = (url: string, body: string) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })

async function open(url: string, text = ''): Promise<Socket & { received: string }> {
  const { port } = new URL(url)
  const socket = Object.assign(connect(Number(port), '127.0.0.1'), { received: '' })
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      socket.received += chunk
    })
  whenTestEnds(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(text)
  return socket
}

const head = (length: number) =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`

describeConcurrently('request bodies', () => {
  it('wait while others use the byte budget; small bodies do not wait', { tags: ['slow'] }, async () => {
    const url = await start({ bodiesBytesMax: 200_000 })
    const slow = await open(url, `${head(150_000)}"${'x'.repeat(100_000)}`)
    const waiting = post(url, `"${'y'.repeat(150_000)}"`)
    let isAnswered = false
    void waiting.finally(() => {
      isAnswered = true
    })
    for (let index = 0; index < 20; index += 1) expect((await post(url, `"${'z'.repeat(50_000)}"`)).status).toBe(200)
    expect(isAnswered).toBe(false)
    slow.write(`${'x'.repeat(49_998)}"`)
    expect(await (await waiting).json()).toEqual({ bytes: 150_002 })
    await poll(() => slow.received).toContain('{"bytes":150000}')
  })

  it('are rejected with Retry-After when they wait too long, and the connection is kept', async () => {
    const url = await start({ bodiesBytesMax: 200_000, bodiesWaitTimeoutMs: 100 })
    await open(url, `${head(150_000)}"${'x'.repeat(100_000)}`)
    const before = await limited('bodies_bytes')
    const response = await post(url, `"${'y'.repeat(3_000_000)}"`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(response.headers.get('connection')).not.toBe('close')
    expect(await response.json()).toEqual({
      error_code: 503,
      message: 'too many large requests are in progress: try again in 5 s',
    })
    expect(await limited('bodies_bytes')).toBe(before + 1)
  })

  it('release their share of the budget when the client disconnects', { tags: ['slow'] }, async () => {
    const url = await start({ bodiesBytesMax: 200_000 })
    for (let index = 0; index < 5; index += 1) {
      const disconnected = await open(url, `${head(150_000)}"${'x'.repeat(100_000)}`)
      await open(url, `${head(150_000)}"${'x'.repeat(100_000)}`).then((waiting) => waiting.destroy())
      disconnected.destroy()
    }
    expect((await post(url, `"${'y'.repeat(150_000)}"`)).status).toBe(200)
  })

  it('count as the largest allowed body without a content length', async () => {
    const url = await start({ bodyBytesMax: 300_000, bodiesBytesMax: 300_000 })
    const chunk = (size: number) => `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`
    const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
    const good = await open(url, `${chunked}${chunk(100_000)}${chunk(100_000)}1\r\n1\r\n0\r\n\r\n`)
    await poll(() => good.received).toContain('{"bytes":1}')
    const tooLong = await open(url, `${chunked}${chunk(200_000)}${chunk(200_000)}`)
    await poll(() => tooLong.received).toContain('413')
  })

  it('are rejected when they arrive too slowly', { tags: ['slow'] }, async () => {
    // Other tests of this file block the event loop for up to a second. With a shorter limit, the request is rejected for its headers.
    const url = await start({ headerTimeoutMs: 2_000 })
    const slow = await open(url, `${head(100)}"x`)
    await poll(() => slow.received).toContain('408')
    await poll(() => slow.closed).toBe(true)
    expect(await limited('body_too_slow')).toBeGreaterThan(0)
  })

  it('are rejected when they would be slow to parse', async () => {
    const url = await start({})
    const refused = async (body: string) => ((await (await post(url, body)).json()) as { message: string }).message
    expect(await refused('['.repeat(5_000_000))).toBe('the request body is invalid: it is nested deeper than 1000')
    expect(await refused(`[${'[],'.repeat(1_000_000)}[]]`)).toBe(
      'the request body is invalid: it has more than 100000 names and values',
    )
  })
})

describeConcurrently('connections', () => {
  it('above the limit replace the connection that has been idle for the longest', async () => {
    const url = await start({ connectionsMax: 3 })
    const [first, second, third] = [await open(url), await open(url, 'GET / HTTP/1.1\r\n'), await open(url)]
    expect((await fetch(url)).status).toBe(200)
    await poll(() => first.closed).toBe(true)
    expect([second.closed, third.closed]).toEqual([false, false])
  })

  it('above the limit are rejected while all others serve requests', async () => {
    const blocked = Promise.withResolvers<object>()
    let atWork = 0
    const routes = (app: FastifyInstance) =>
      void app.get('/', () => {
        atWork += 1
        return blocked.promise
      })
    const url = await start({ connectionsMax: 2 }, { routes })
    const requests = [fetch(url), fetch(url)]
    await poll(() => atWork).toBe(2)
    await expect(fetch(url)).rejects.toThrow('fetch failed')
    blocked.resolve({})
    expect((await Promise.all(requests)).map(({ status }) => status)).toEqual([200, 200])
    expect((await fetch(url)).status).toBe(200)
  })

  it('process pipelined requests one after the other, in order', { tags: ['slow'] }, async () => {
    let [atWork, atWorkMax] = [0, 0]
    const routes = (app: FastifyInstance) => {
      app.get('/:number', async (request) => {
        atWork += 1
        atWorkMax = Math.max(atWorkMax, atWork)
        await new Promise((resolve) => setImmediate(resolve))
        atWork -= 1
        return request.params
      })
      app.post('/', async (request) => request.body)
    }
    const url = await start({}, { routes })
    const numbers = Array.from({ length: 3_000 }, (_, index) => index)
    const posted = `"${'x'.repeat(100_000)}"`
    const socket = await open(
      url,
      [...numbers.map((number) => `GET /${number} HTTP/1.1\r\nHost: x\r\n\r\n`), head(posted.length), posted].join(''),
    )
    await poll(() => socket.received.endsWith(posted.slice(1, -1))).toBe(true)
    const answered = [...socket.received.matchAll(/"number":"(\d+)"/g)].map(([, number]) => Number(number))
    expect(answered).toEqual(numbers)
    expect(atWorkMax).toBe(1)
  })

  it('are not read any further while many of their requests are pending', { tags: ['slow'] }, async () => {
    const blocked = Promise.withResolvers<object>()
    let reading: Socket | undefined
    const routes = (app: FastifyInstance) =>
      void app.get('/', ({ socket }) => {
        reading = socket
        return blocked.promise
      })
    const url = await start({}, { routes })
    await open(url, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(300_000))
    await poll(() => reading?.isPaused()).toBe(true)
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(reading?.bytesRead).toBeLessThan(200_000)
  })

  it('are limited for each address', async () => {
    const url = await start({ connectionsPerAddressMax: 2 })
    await open(url)
    await open(url)
    const third = await open(url)
    await poll(() => third.closed).toBe(true)
  })

  it('do not wait for each other when a client uses the same port for several listeners', async () => {
    const blocked = Promise.withResolvers<object>()
    const listeners = ['http://127.0.0.1:0', 'http://127.0.0.1:0']
    const server = await startHttpServer({
      ...{ listeners, logger: silentLogger(), consumes: ['application/json'], produces: ['application/json'] },
      routes: (app) => {
        app.get('/', async () => ({}))
        app.get('/blocked', () => blocked.promise)
      },
    })
    whenTestEnds(() => server.stop(0))
    const [first, second] = server.urls.map((url) => Number(new URL(url).port)) as [number, number]
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const from = { host: '127.0.0.1', localAddress: '127.0.0.1', localPort: (free.address() as AddressInfo).port }
    free.close()
    await once(free, 'close')
    const blocking = connect({ ...from, port: first })
    whenTestEnds(() => void blocking.destroy())
    await once(blocking, 'connect')
    blocking.write('GET /blocked HTTP/1.1\r\nHost: x\r\n\r\n')
    const other = connect({ ...from, port: second })
    whenTestEnds(() => void other.destroy())
    other.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    const [response] = await once(other, 'data')
    expect(String(response)).toContain('200 OK')
    blocked.resolve({})
  })

  it('are closed when a request head is not completed in time', { tags: ['slow'] }, async () => {
    const url = await start({ headerTimeoutMs: 300 })
    const sockets = [await open(url), await open(url, 'GET / HTTP/1.1\r\n')]
    await poll(() => sockets.every((socket) => socket.closed)).toBe(true)
    expect(await limited('request_timeout')).toBeGreaterThan(0)
  })
})

describeConcurrently('responses', () => {
  it('that are not read are bounded, and their connections are closed', { tags: ['slow'] }, async () => {
    const url = await start({ responsesBytesMax: 20_000_000, responseStallTimeoutMs: 200 })
    const sockets = await Promise.all(Array.from({ length: 4 }, () => open(url)))
    for (const socket of sockets) {
      socket.pause()
      socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n')
    }
    await poll(() => limited('responses_bytes')).toBeGreaterThan(0)
    const refused = await fetch(`${url}/large`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await fetch(url)).status).toBe(200)
    await poll(() => limited('response_stalled')).toBeGreaterThan(1)
    expect((await (await fetch(`${url}/large`)).text()).length).toBe(8_000_000)
  })

  it('are not aborted while a client waits for them', { tags: ['slow'] }, async () => {
    const blocked = Promise.withResolvers<object>()
    const url = await start(
      { responseStallTimeoutMs: 100, keepAliveTimeoutMs: 100 },
      { routes: (app) => void app.get('/', () => blocked.promise) },
    )
    const response = fetch(url)
    setTimeout(() => blocked.resolve({}), 500)
    expect((await response).status).toBe(200)
  })
})
