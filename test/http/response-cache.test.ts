import { request as ask } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/config/logger.ts'
import type { CompletedRequest } from '../../src/http/access-log.ts'
import { Authentication } from '../../src/http/authentication.ts'
import type { PasswordOutcome } from '../../src/http/password-authenticator.ts'
import { NO_POLICY } from '../../src/http/permissions.ts'
import { ResponseCache } from '../../src/http/response-cache.ts'
import { type HttpServerOptions, startHttpServer } from '../../src/http/server.ts'

const JSON_TYPE = 'application/json'
const answer = (payload: string) => ({ headers: {}, payload, endpoint: undefined })

describe('answers that were given', () => {
  it('hold until the state changes', () => {
    let revision = 7
    const given = new ResponseCache(() => revision)
    given.keep('one', 7, answer('1'))
    expect([given.get('one')?.payload, given.get('two')]).toEqual(['1', undefined])
    revision = 8
    expect(given.get('one')).toBeUndefined()
    given.keep('two', 8, answer('2'))
    expect([given.get('one'), given.get('two')?.payload]).toEqual([undefined, '2'])
  })

  it('are no answers when the state changed while they were made', () => {
    const given = new ResponseCache(() => 8)
    given.keep('one', 7, answer('1'))
    expect(given.get('one')).toBeUndefined()
  })

  it('begin anew when they are too many, and what is larger than all is not kept', () => {
    const given = new ResponseCache(() => 1)
    const half = 'x'.repeat(4 * 1024 * 1024)
    given.keep('a', 1, answer(half))
    given.keep('b', 1, answer(half))
    expect([given.get('a'), given.get('b')?.payload]).toEqual([undefined, half])
    given.keep('c', 1, answer(half + half))
    expect(given.get('c')).toBeUndefined()
  })
})

type Served = { readonly url: string; revision: number; readonly asked: string[]; readonly told: CompletedRequest[] }

/** A server whose routes tell how often they were asked. */
async function serve(options: Partial<HttpServerOptions> = {}): Promise<Served> {
  const served = { url: '', revision: 1, asked: [] as string[], told: [] as CompletedRequest[] }
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: [JSON_TYPE, 'text/json'],
    produces: [JSON_TYPE, 'text/json'],
    compress: true,
    requestIds: true,
    onResponse: (request) => served.told.push(request),
    stateRevision: () => served.revision,
    routes: (app) => {
      const count = (what: string) => served.asked.push(what)
      app.get('/state/*', { config: { metric: 'state' } }, async (request, reply) => {
        request.revision = served.revision
        if (request.url.endsWith('missing')) return reply.code(404).send({})
        return { asked: count(request.url) }
      })
      app.get('/other', async (request) => ({ asked: count(request.url) }))
      app.post('/state', async (request) => {
        request.revision = served.revision
        return { asked: count('POST'), got: request.body ?? null }
      })
    },
    ...options,
  })
  onTestFinished(() => server.stop(0))
  return Object.assign(served, { url: server.urls[0] })
}

describe('a server that gives its answers again', () => {
  it('asks a route anew only when what it tells of has changed', async () => {
    const served = await serve()
    const get = async () => (await fetch(`${served.url}/state/a`)).json()
    expect([await get(), await get()]).toEqual([{ asked: 1 }, { asked: 1 }])
    served.revision = 2
    expect(await get()).toEqual({ asked: 2 })
  })

  it('asks a route each time that does not say what it tells of, or that refuses', async () => {
    const served = await serve()
    const get = async (path: string) => (await fetch(`${served.url}${path}`)).status
    expect([await get('/other'), await get('/other'), served.asked.length]).toEqual([200, 200, 2])
    expect([await get('/state/missing'), await get('/state/missing')]).toEqual([404, 404])
  })

  it('gives the same head, a request id of its own, and counts it', async () => {
    const { url, told } = await serve()
    const get = async (id: string) => {
      const { headers } = await fetch(`${url}/state/${'long'.repeat(500)}`, { headers: { 'x-request-id': id } })
      return Object.fromEntries([...headers].filter(([name]) => name !== 'date'))
    }
    const first = await get('first')
    expect(first).toMatchObject({ 'x-request-id': 'first', 'content-type': JSON_TYPE })
    expect(await get('second')).toEqual({ ...first, 'x-request-id': 'second' })
    expect((await fetch(`${url}/state/x`)).headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    await expect
      .poll(() => told.map(({ endpoint, status }) => [endpoint, status]))
      .toEqual([
        ['state', 200],
        ['state', 200],
        ['state', 200],
      ])
  })

  it('tells apart what is asked in another way', async () => {
    const { url } = await serve()
    const asks = [
      ['/state/a', {}],
      ['/state/a?b', {}],
      ['/state/a', { accept: 'text/json' }],
      ['/state/a', { 'accept-encoding': 'identity' }],
    ] as const
    const answers: unknown[] = []
    for (const [path, headers] of [...asks, ...asks]) {
      answers.push(((await (await fetch(url + path, { headers })).json()) as { asked: number }).asked)
    }
    expect(answers).toEqual([1, 2, 3, 4, 1, 2, 3, 4])
  })

  it('hears out a body, however it comes, before it answers', async () => {
    const { url, asked } = await serve()
    const post = async (body: string, headers = {}) =>
      (await fetch(`${url}/state`, { method: 'POST', body, headers: { 'content-type': JSON_TYPE, ...headers } })).json()
    expect([await post('{"a":1}'), await post('{"a":1}'), await post('{"a":2}')]).toEqual([
      { asked: 1, got: { a: 1 } },
      { asked: 1, got: { a: 1 } },
      { asked: 2, got: { a: 2 } },
    ])
    const long = { text: 'x'.repeat(20_000) }
    expect([await post(JSON.stringify(long)), await post(JSON.stringify(long))]).toMatchObject([
      { got: long },
      { got: long },
    ])
    expect(await inPieces(`${url}/state`, ['{"a":', '1}'], { 'content-length': '7' })).toMatchObject({ got: { a: 1 } })
    expect(await inPieces(`${url}/state`, ['{"a":', '1}'], {})).toMatchObject({ got: { a: 1 } })
    expect(asked.length).toBe(6)
  })

  it('lets nobody past who has to be let in first', async () => {
    const passwords = {
      check: async (_: string, password: string): Promise<PasswordOutcome> =>
        password === 'right' ? { kind: 'known', role: 'admin' } : { kind: 'wrong' },
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

/** Sends the pieces of a body one after the other, each when the one before has left. */
async function inPieces(url: string, pieces: readonly string[], headers: Record<string, string>): Promise<unknown> {
  const request = ask(url, { method: 'POST', headers: { 'content-type': JSON_TYPE, ...headers } })
  const answered = new Promise<string>((resolve, reject) => {
    request.once('response', (response) => resolve(text(response))).once('error', reject)
  })
  for (const piece of pieces) await new Promise((resolve) => request.write(piece, resolve))
  request.end()
  return JSON.parse(await answered)
}
