import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { CorsOptions } from '../../src/http/cors.ts'
import { startHttpServer } from '../../src/http/server.ts'

const ALLOWED: CorsOptions = { origins: 'https://ui.example', methods: 'POST', headers: '' }

async function post(headers: Record<string, string>, crossOrigin?: CorsOptions, method = 'POST'): Promise<number> {
  const server = await startHttpServer({
    listeners: ['http://127.0.0.1:0'],
    logger: silentLogger(),
    consumes: ['application/json'],
    produces: ['application/json'],
    routes: (app) => {
      app.post('/', async () => ({}))
      app.get('/', async () => ({}))
    },
    ...(crossOrigin ? { crossOrigin } : {}),
  })
  onTestFinished(() => server.stop(0))
  const url = server.urls[0] ?? ''
  const sent = Object.entries(headers).map(([name, value]) => [name, value.replace('OWN', new URL(url).host)] as const)
  return (await fetch(url, { method, headers: Object.fromEntries(sent) })).status
}

it.each<[what: string, status: number, headers: Record<string, string>, crossOrigin?: CorsOptions]>([
  ['a program that sends no Origin header', 200, {}],
  ['a page of the same origin', 200, { origin: 'http://OWN' }],
  ['a page of another origin', 403, { origin: 'https://evil.example' }],
  ['a page with the opaque origin null', 403, { origin: 'null' }],
  ['a page of another port', 403, { origin: 'http://127.0.0.1:1' }],
  [
    'a page of the forwarded host of the proxy',
    200,
    { origin: 'https://ui.example', 'x-forwarded-host': 'ui.example' },
  ],
  ['a page of an allowed origin', 200, { origin: 'https://ui.example' }, ALLOWED],
  ['a page of an origin that is not allowed', 403, { origin: 'https://evil.example' }, ALLOWED],
  ['a page of any origin when all are allowed', 200, { origin: 'https://any.example' }, { ...ALLOWED, origins: '*' }],
])('responds to %s with %i', async (_, status, headers, crossOrigin) => {
  expect(await post(headers, crossOrigin)).toBe(status)
})

it('serves GET requests of other origins, whose responses the browser hides', async () => {
  expect(await post({ origin: 'https://evil.example' }, undefined, 'GET')).toBe(200)
})
