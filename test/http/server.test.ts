import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { type HttpServer, type HttpServerOptions, startHttpServer } from '../../src/http/server.ts'

const JSON_V1 = 'application/vnd.schemaregistry.v1+json'
let running: HttpServer[] = []

async function start(options: Partial<HttpServerOptions> = {}): Promise<string> {
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: [JSON_V1, 'application/json'],
    produces: [JSON_V1, 'application/json'],
    metrics: createMetrics(),
    routes: (app) => {
      app.get('/numbers/:number(^-?\\d+$)', async () => ({}))
      app.get('/things/:name', async (request) => ({ name: (request.params as { name: string }).name }))
      app.post('/things', async (request) => ({ got: request.body ?? null }))
      app.delete('/things', async (_, reply) => reply.code(204).send())
      app.get('/boom', async () => {
        throw new Error('the inside')
      })
    },
    ...options,
  })
  running.push(server)
  return server.urls[0] ?? ''
}

afterEach(async () => {
  await Promise.all(running.map((server) => server.stop(0)))
  running = []
})

describe('HTTP server', () => {
  it('responds with the requested media type, without a charset', async () => {
    const url = await start()
    const plain = await fetch(`${url}/things/a`)
    expect([plain.headers.get('content-type'), await plain.json()]).toEqual([JSON_V1, { name: 'a' }])
    const json = await fetch(`${url}/things/a`, { headers: { accept: 'application/json' } })
    expect(json.headers.get('content-type')).toBe('application/json')
  })

  it('decodes percent-encoded names and tolerates a trailing slash', async () => {
    const url = await start()
    expect(await (await fetch(`${url}/things/a%2Fb%20%25/`)).json()).toEqual({ name: 'a/b %' })
  })

  it('compresses large responses for clients that accept gzip only', async () => {
    const url = await start({ compress: true })
    const request = (name: string, encoding: string) =>
      fetch(`${url}/things/${name}`, { headers: { 'accept-encoding': encoding } })
    const long = 'a'.repeat(2_000)
    for (const encoding of ['gzip', 'deflate, GZIP;q=0.5', '*']) {
      const response = await request(long, encoding)
      expect(response.headers.get('content-encoding')).toBe('gzip')
      expect(response.headers.get('vary')).toBe('accept-encoding')
      expect(Number(response.headers.get('content-length'))).toBeLessThan(200)
      expect(await response.json()).toEqual({ name: long })
    }
    for (const encoding of ['identity', 'gzip;q=0', 'gzip; q=0.00']) {
      const response = await request(long, encoding)
      expect([response.headers.get('content-encoding'), await response.json()]).toEqual([null, { name: long }])
    }
    const short = await request('a', 'gzip')
    expect([short.headers.get('content-encoding'), await short.json()]).toEqual([null, { name: 'a' }])
  })

  it('sets the content type of a response also if the first hook rejects the request', async () => {
    const url = await start()
    const headers = { 'sec-fetch-site': 'cross-site', 'content-type': 'application/json' }
    const response = await fetch(`${url}/things`, { method: 'POST', headers, body: '{}' })
    expect([response.status, response.headers.get('content-type')]).toEqual([403, JSON_V1])
  })

  it('responds to an invalid URL with the usual error envelope', async () => {
    const response = await fetch(`${await start()}/things/%E0%A4%A`)
    expect([response.status, response.headers.get('content-type')]).toEqual([400, JSON_V1])
    expect(await response.json()).toEqual({
      error_code: 400,
      message: "'/things/%E0%A4%A' is not a valid url component",
    })
  })

  it('accepts a body with any listed content type or without one', async () => {
    const url = await start()
    for (const type of [JSON_V1, 'application/json', 'application/json; charset=utf-8']) {
      const response = await fetch(`${url}/things`, {
        method: 'POST',
        body: '{"a":1}',
        headers: { 'content-type': type },
      })
      expect(await response.json()).toEqual({ got: { a: 1 } })
    }
    const untyped = await fetch(`${url}/things`, { method: 'POST', body: new Uint8Array(Buffer.from('[2]')) })
    expect(await untyped.json()).toEqual({ got: [2] })
  })

  it('where a content type is required, rejects a body without one, but accepts an empty body', async () => {
    const url = await start({ requiresContentType: true })
    const send = (body: Buffer) => fetch(`${url}/things`, { method: 'POST', body: new Uint8Array(body) })
    expect((await send(Buffer.from('{}'))).status).toBe(415)
    expect((await send(Buffer.alloc(0))).status).toBe(200)
  })

  it('accepts a request that has a content type but neither a body nor its length', async () => {
    const url = await start({
      routes: (app) => {
        app.post('/parsed', async (request) => ({ got: request.body ?? null }))
        app.register((within, _options, done) => {
          within.removeAllContentTypeParsers()
          within.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
          within.post('/buffered', async (request) => ({ got: (request.body as Buffer).length }))
          done()
        })
      },
    })
    const send = async (path: string) => {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${JSON_V1}\r\nConnection: close\r\n\r\n`)
      const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
      return [head.split('\r\n')[0], body]
    }
    expect(await send('/parsed')).toEqual(['HTTP/1.1 200 OK', '{"got":null}'])
    expect(await send('/buffered')).toEqual(['HTTP/1.1 200 OK', '{"got":0}'])
  })

  it('lists the methods of a path', async () => {
    const url = await start()
    const response = await fetch(`${url}/things`, { method: 'OPTIONS' })
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([
      200,
      'POST,DELETE,OPTIONS',
      'POST, DELETE, OPTIONS',
    ])
    expect((await fetch(`${url}/nothing`, { method: 'OPTIONS' })).status).toBe(404)
  })

  it.each([
    ['GET', '/nowhere', {}, 404, 'HTTP 404 Not Found'],
    ['GET', '/numbers/x', {}, 404, 'HTTP 404 Not Found'],
    ['PUT', '/numbers/7', {}, 405, 'HTTP 405 Method Not Allowed'],
    ['PUT', '/things/a', {}, 405, 'HTTP 405 Method Not Allowed'],
    ['GET', '/things/a', { accept: 'text/html' }, 406, 'HTTP 406 Not Acceptable'],
    ['POST', '/things', { 'content-type': 'text/xml' }, 415, 'HTTP 415 Unsupported Media Type'],
    ['GET', '/boom', {}, 500, 'Internal server error'],
  ])('rejects %s %s with the error envelope', async (method, path, headers, status, message) => {
    const url = await start()
    const body = method === 'POST' ? '<a/>' : null
    const response = await fetch(url + path, { method, headers, body })
    expect([response.status, await response.json()]).toEqual([status, { error_code: status, message }])
  })

  it('explains why a body is not JSON', async () => {
    const url = await start()
    const response = await fetch(`${url}/things`, { method: 'POST', body: '{', headers: { 'content-type': JSON_V1 } })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ error_code: 400, message: expect.stringContaining('not JSON') })
  })

  it('responds with 204 without content type and body', async () => {
    const url = await start()
    const response = await fetch(`${url}/things`, { method: 'DELETE' })
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([204, null, ''])
  })

  it('serves health, readiness and metrics', async () => {
    const url = await start({ isReady: () => false })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
    expect((await fetch(`${await start({ isHealthy: () => false })}/healthz`)).status).toBe(503)
    expect((await fetch(`${url}/metrics`, { headers: { accept: 'text/plain' } })).status).toBe(200)
  })

  it('names a port that is in use and closes all listeners', async () => {
    const taken = new URL(await start())
    const second = start({ listeners: ['http://127.0.0.1:0', `http://127.0.0.1:${taken.port}`] })
    await expect(second).rejects.toMatchObject({ code: 'address_in_use', message: expect.stringContaining(taken.port) })
  })

  it('rejects an invalid listener', async () => {
    await expect(start({ listeners: ['127.0.0.1:8081'] })).rejects.toMatchObject({ code: 'invalid_listener' })
  })
})
