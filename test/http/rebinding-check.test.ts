import { request as ask } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { Authentication } from '../../src/http/authentication.ts'
import { NO_POLICY } from '../../src/http/permissions.ts'
import { type HttpServerOptions, startHttpServer } from '../../src/http/server.ts'

const PAGE = { 'accept-language': 'en' }
const ALLOWED: HttpServerOptions['crossOrigin'] = { origins: 'https://ui.example', methods: 'GET', headers: '' }

const PASSWORDS = {
  authentication: new Authentication({ realm: 'r', passwords: { check: async () => ({ kind: 'invalid' }) } }),
  kind: 'subjects',
  policy: () => NO_POLICY,
  check: () => undefined,
} as never

/** Sends requests to a new server on 127.0.0.1. */
async function serve(options: Partial<HttpServerOptions> = {}) {
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: ['application/json'],
    produces: ['application/json'],
    routes: (app) => {
      app.get('/', async () => ({}))
    },
    ...options,
  })
  onTestFinished(() => server.stop(0))
  const { port } = new URL(server.urls[0] ?? '')
  return (headers: Record<string, string>) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const sent = ask({ host: '127.0.0.1', port, headers }, async (response) =>
        resolve({ status: response.statusCode, body: await text(response) }),
      )
      sent.on('error', reject).end()
    })
}

describe('a server without authentication that listens only on loopback addresses', () => {
  it.each<[what: string, status: number, headers: Record<string, string>, crossOrigin?: typeof ALLOWED]>([
    ['a page at localhost', 200, { ...PAGE, host: 'localhost:8081' }],
    ['a page at a name below localhost', 200, { ...PAGE, host: 'registry.localhost:8081' }],
    ['a page at an IPv4 address', 200, { ...PAGE, host: '127.0.0.1:8081' }],
    ['a page at an IPv6 address', 200, { ...PAGE, host: '[::1]:8081' }],
    ['a page at another name', 403, { ...PAGE, host: 'evil.example:8081' }],
    ['a page at a name that begins with localhost', 403, { ...PAGE, host: 'localhost.evil.example' }],
    ['a page at a name that begins with an address', 403, { ...PAGE, host: '127.0.0.1.evil.example' }],
    ['a page whose host is no name', 403, { ...PAGE, host: 'a b' }],
    ['a page at another name that hides its language', 403, { 'accept-language': '', host: 'evil.example' }],
    ['an EventSource at another name', 403, { 'sec-fetch-site': 'same-origin', host: 'evil.example' }],
    ['a page at the host of an allowed origin', 200, { ...PAGE, host: 'ui.example' }, ALLOWED],
    ['a page at another name, while an origin is allowed', 403, { ...PAGE, host: 'evil.example' }, ALLOWED],
    [
      'a page at any name, when all origins are allowed',
      200,
      { ...PAGE, host: 'any.example' },
      { ...ALLOWED, origins: '*' },
    ],
    ['a program that uses another name', 200, { host: 'registry.example', 'user-agent': 'curl/8.5.0' }],
  ])('responds to %s with %i', async (_, status, headers, crossOrigin) => {
    const send = await serve(crossOrigin ? { crossOrigin } : {})
    expect(await send(headers)).toMatchObject({ status })
  })

  it('names the remedy in its response', async () => {
    const send = await serve({ listeners: ['http://localhost:0'] })
    expect((await send({ ...PAGE, host: 'evil.example:8081' })).body).toContain(
      'use localhost as the host, or add http://evil.example:8081 to access.control.allow.origin',
    )
  })
})

it.each<[what: string, status: number, options: Partial<HttpServerOptions>]>([
  ['that also listens on other addresses', 200, { listeners: ['http://127.0.0.1:0', 'http://0.0.0.0:0'] }],
  ['with authentication', 401, { access: PASSWORDS }],
])('a server %s responds to a page at another name with %i', async (_, status, options) => {
  const send = await serve(options)
  expect(await send({ ...PAGE, host: 'registry.example' })).toMatchObject({ status })
})
