import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { proxyPath, runtimeProxyRoutes } from '../../src/console/routes/runtime-proxy-routes.ts'
import type { HttpLimits } from '../../src/http/limit-settings.ts'
import { startHttpServer } from '../../src/http/server.ts'

type Received = {
  readonly url: string
  readonly method: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

it('A request reaches the runtime unchanged, with the credentials of the user and no others', async () => {
  const { url, received } = await startProxy()
  const response = await fetch(`${url}${proxyPath('worker', 'team a')}/connectors/a%2Fb/config?x=1`, {
    method: 'PUT',
    headers: { authorization: 'Basic abc', 'content-type': 'application/json', cookie: 'secret=1', 'x-other': 'y' },
    body: '{"number": 12345678901234567890}',
  })
  expect(response.status).toBe(201)
  expect(await response.text()).toBe('{"done":true}')
  const [request] = received
  expect(request).toMatchObject({
    method: 'PUT',
    url: '/prefix/connectors/a%2Fb/config?x=1',
    body: '{"number": 12345678901234567890}',
  })
  expect(request?.headers).toMatchObject({ authorization: 'Basic abc', 'content-type': 'application/json' })
  expect(request?.headers).not.toHaveProperty('cookie')
  expect(request?.headers).not.toHaveProperty('x-other')
})

it('A path cannot leave the URL of the runtime', async () => {
  const { port, received } = await startProxy()
  for (const path of [
    '/../admin',
    '/%2e%2e/admin',
    '/a/./b',
    '/..?x',
    '/a/%2e%2e%2Fadmin',
    '/a%2f..',
    '/a%5C..%5cadmin',
  ]) {
    expect(await statusOf(port, `${proxyPath('worker', 'team a')}${path}`)).toBe(400)
  }
  expect(received).toEqual([])
})

it('A runtime that is not configured is 404, and one that does not respond is 502 with its name', async () => {
  const { url } = await startProxy()
  expect((await fetch(`${url}${proxyPath('registry', 'other')}/subjects`)).status).toBe(404)
  const failed = await fetch(`${url}${proxyPath('worker', 'dead')}/connectors`)
  expect(failed.status).toBe(502)
  expect(await failed.json()).toMatchObject({ message: expect.stringContaining('dead does not respond') })
})

it('Bodies of requests count against the byte budget of the server', async () => {
  const { url, received } = await startProxy({ bodiesBytesMax: 200_000, bodiesWaitTimeoutMs: 20 })
  const post = (body: string | ReadableStream) =>
    fetch(`${url}${proxyPath('worker', 'team a')}/connectors`, { method: 'POST', body, duplex: 'half' } as RequestInit)
  const held = new TransformStream<Uint8Array>()
  const writer = held.writable.getWriter()
  const first = post(held.readable)
  await writer.write(new Uint8Array(100_000))
  await expect.poll(async () => (await post('x'.repeat(150_000))).status).toBe(503)
  await writer.close()
  expect((await first).status).toBe(201)
  expect((await post('x'.repeat(150_000))).status).toBe(201)
  expect(received.map(({ body }) => body.length)).toEqual(expect.arrayContaining([100_000, 150_000]))
})

it('A page of another site cannot send a request to a runtime', async () => {
  const { url, received } = await startProxy()
  const response = await fetch(`${url}${proxyPath('worker', 'team a')}/connectors/a/pause`, {
    method: 'PUT',
    headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  })
  expect(response.status).toBe(403)
  expect(received).toEqual([])
})

/** A proxy with the worker `team a`, which is a server that records requests, and the worker `dead`. */
async function startProxy(limits: Partial<HttpLimits> = {}) {
  const received: Received[] = []
  const runtime = createServer(async (request, response) => {
    const { url = '', method = '', headers } = request
    received.push({ url, method, headers, body: await text(request) })
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"done":true}')
  })
  await new Promise<void>((resolve) => runtime.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void runtime.close())
  const { port: runtimePort } = runtime.address() as AddressInfo
  const dead = createServer()
  await new Promise<void>((resolve) => dead.listen(0, '127.0.0.1', resolve))
  const { port: deadPort } = dead.address() as AddressInfo
  await new Promise((resolve) => dead.close(resolve))
  const runtimes = new Map([
    ['worker team a', { url: `http://127.0.0.1:${runtimePort}/prefix/` }],
    ['worker dead', { url: `http://127.0.0.1:${deadPort}` }],
  ])
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: ['application/json'],
    produces: ['application/json'],
    limits,
    routes: (app) => runtimeProxyRoutes(app, (kind, name) => runtimes.get(`${kind} ${name}`)),
  })
  onTestFinished(() => server.stop(0))
  const url = server.urls[0]!
  return { url, port: Number(new URL(url).port), received }
}

/** `fetch` would normalize the path. */
async function statusOf(port: number, path: string): Promise<number | undefined> {
  const { get } = await import('node:http')
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).once('error', reject)
  })
}
