import { request as ask } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { CompletedRequest } from '../../src/http/access-log.ts'
import { Authentication } from '../../src/http/authentication.ts'
import type { PasswordOutcome } from '../../src/http/password-authenticator.ts'
import { NO_POLICY } from '../../src/http/permissions.ts'
import { type CacheKey, ResponseCache } from '../../src/http/response-cache.ts'
import { type HttpServerOptions, startHttpServer } from '../../src/http/server.ts'

const JSON_TYPE = 'application/json'
const response = (payload: string) => ({
  headers: [],
  payload,
  encoding: 'utf8' as const,
  bytes: payload.length,
  endpoint: undefined,
})
const keyOf = (request: string): CacheKey => ({ form: 'json', request })

describe('cached responses', () => {
  it('are valid until the state changes', () => {
    let revision = 7
    const cache = new ResponseCache(() => revision)
    cache.store(keyOf('one'), 7, response('1'))
    expect([cache.get(keyOf('one'))?.payload, cache.get(keyOf('two'))]).toEqual(['1', undefined])
    revision = 8
    expect(cache.get(keyOf('one'))).toBeUndefined()
    cache.store(keyOf('two'), 8, response('2'))
    expect([cache.get(keyOf('one')), cache.get(keyOf('two'))?.payload]).toEqual([undefined, '2'])
  })

  it('are not stored when the state changed while they were computed', () => {
    const cache = new ResponseCache(() => 8)
    cache.store(keyOf('one'), 7, response('1'))
    expect(cache.get(keyOf('one'))).toBeUndefined()
  })

  it('are dropped when the cache is full; a response larger than the cache is not stored', () => {
    const cache = new ResponseCache(() => 1)
    const half = 'x'.repeat(4 * 1024 * 1024)
    cache.store(keyOf('a'), 1, response(half))
    cache.store(keyOf('b'), 1, response(half))
    expect([cache.get(keyOf('a')), cache.get(keyOf('b'))?.payload]).toEqual([undefined, half])
    cache.store(keyOf('c'), 1, response(half + half))
    expect(cache.get(keyOf('c'))).toBeUndefined()
  })
})

type CachingServer = {
  readonly url: string
  revision: number
  readonly calls: string[]
  readonly completed: CompletedRequest[]
}

/** Starts a server whose routes respond with the number of their calls. */
async function serve(options: Partial<HttpServerOptions> = {}): Promise<CachingServer> {
  const record = { url: '', revision: 1, calls: [] as string[], completed: [] as CompletedRequest[] }
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: [JSON_TYPE, 'text/json'],
    produces: [JSON_TYPE, 'text/json'],
    compress: true,
    addsRequestId: true,
    onResponse: (request) => record.completed.push(request),
    stateRevision: () => record.revision,
    routes: (app) => {
      const count = (what: string) => record.calls.push(what)
      app.get('/state/*', { config: { metric: 'state' } }, async (request, reply) => {
        request.revision = record.revision
        if (request.url.endsWith('missing')) return reply.code(404).send({})
        return { calls: count(request.url) }
      })
      app.get('/text', async (request) => {
        request.revision = record.revision
        return { calls: count(request.url), text: 'Größe, 大きさ, 📏' }
      })
      app.get('/other', async (request) => ({ calls: count(request.url) }))
      app.post('/state', async (request) => {
        request.revision = record.revision
        return { calls: count('POST'), got: request.body ?? null }
      })
    },
    ...options,
  })
  onTestFinished(() => server.stop(0))
  return Object.assign(record, { url: server.urls[0] })
}

describe('server with a response cache', () => {
  it('calls a cacheable route only after its state has changed', async () => {
    const server = await serve()
    const get = async () => (await fetch(`${server.url}/state/a`)).json()
    expect([await get(), await get()]).toEqual([{ calls: 1 }, { calls: 1 }])
    server.revision = 2
    expect(await get()).toEqual({ calls: 2 })
  })

  it('calls a route each time if it is not marked cacheable or responds with an error', async () => {
    const server = await serve()
    const get = async (path: string) => (await fetch(`${server.url}${path}`)).status
    expect([await get('/other'), await get('/other'), server.calls.length]).toEqual([200, 200, 2])
    expect([await get('/state/missing'), await get('/state/missing')]).toEqual([404, 404])
  })

  it('sends the same headers with a new request id, and counts the request', async () => {
    const { url, completed } = await serve()
    const get = async (id: string) => {
      const { headers } = await fetch(`${url}/state/${'long'.repeat(500)}`, { headers: { 'x-request-id': id } })
      return Object.fromEntries([...headers].filter(([name]) => name !== 'date'))
    }
    const first = await get('first')
    expect(first).toMatchObject({ 'x-request-id': 'first', 'content-type': JSON_TYPE })
    expect(await get('second')).toEqual({ ...first, 'x-request-id': 'second' })
    expect((await fetch(`${url}/state/x`)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    await expect
      .poll(() => completed.map(({ endpoint, status }) => [endpoint, status]))
      .toEqual([
        ['state', 200],
        ['state', 200],
        ['state', 200],
      ])
  })

  it('sends characters beyond ASCII unchanged', async () => {
    const { url, calls } = await serve()
    const get = async () => (await fetch(`${url}/text`, { headers: { 'accept-encoding': 'identity' } })).json()
    expect([await get(), await get()]).toEqual(Array(2).fill({ calls: 1, text: 'Größe, 大きさ, 📏' }))
    expect(calls.length).toBe(1)
  })

  it('distinguishes requests by headers and query', async () => {
    const { url } = await serve()
    const requests = [
      ['/state/a', {}],
      ['/state/a?b', {}],
      ['/state/a', { accept: 'text/json' }],
      ['/state/a', { 'accept-encoding': 'identity' }],
    ] as const
    const counts: unknown[] = []
    for (const [path, headers] of [...requests, ...requests]) {
      counts.push(((await (await fetch(url + path, { headers })).json()) as { calls: number }).calls)
    }
    expect(counts).toEqual([1, 2, 3, 4, 1, 2, 3, 4])
  })

  it('distinguishes requests whose headers alternate', async () => {
    const { url } = await serve()
    const types: (string | null)[] = []
    for (const accept of [JSON_TYPE, 'text/json', JSON_TYPE, 'text/json']) {
      types.push((await fetch(`${url}/state/a`, { headers: { accept } })).headers.get('content-type'))
    }
    expect(types).toEqual([JSON_TYPE, 'text/json', JSON_TYPE, 'text/json'])
  })

  it('reads the whole request body before it responds', async () => {
    const { url, calls } = await serve()
    const post = async (body: string, headers = {}) =>
      (await fetch(`${url}/state`, { method: 'POST', body, headers: { 'content-type': JSON_TYPE, ...headers } })).json()
    expect([await post('{"a":1}'), await post('{"a":1}'), await post('{"a":2}')]).toEqual([
      { calls: 1, got: { a: 1 } },
      { calls: 1, got: { a: 1 } },
      { calls: 2, got: { a: 2 } },
    ])
    const long = { text: 'x'.repeat(20_000) }
    expect([await post(JSON.stringify(long)), await post(JSON.stringify(long))]).toMatchObject([
      { got: long },
      { got: long },
    ])
    expect(await sendInPieces(`${url}/state`, ['{"a":', '1}'], { 'content-length': '7' })).toMatchObject({
      got: { a: 1 },
    })
    expect(await sendInPieces(`${url}/state`, ['{"a":', '1}'], {})).toMatchObject({ got: { a: 1 } })
    expect(calls.length).toBe(6)
  })

  it('does not bypass authentication', async () => {
    const passwords = {
      check: async (_: string, password: string): Promise<PasswordOutcome> =>
        password === 'right' ? { kind: 'authenticated', role: 'admin' } : { kind: 'invalid' },
    }
    const { url } = await serve({
      access: {
        authentication: new Authentication({ realm: 'r', passwords }),
        kind: 'subjects',
        policy: () => NO_POLICY,
        check: () => {},
      } as never,
    })
    const get = async (password: string) => {
      const authorization = `Basic ${Buffer.from(`me:${password}`).toString('base64')}`
      return (await fetch(`${url}/state/a`, { headers: { authorization } })).status
    }
    expect([await get('right'), await get('wrong')]).toEqual([200, 401])
  })
})

/** Sends the chunks of a body one after the other, each after the previous one was sent. */
async function sendInPieces(url: string, pieces: readonly string[], headers: Record<string, string>): Promise<unknown> {
  const request = ask(url, { method: 'POST', headers: { 'content-type': JSON_TYPE, ...headers } })
  const answered = new Promise<string>((resolve, reject) => {
    request.once('response', (response) => resolve(text(response))).once('error', reject)
  })
  for (const piece of pieces) await new Promise((resolve) => request.write(piece, resolve))
  request.end()
  return JSON.parse(await answered)
}
