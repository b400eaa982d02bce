import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/config/logger.ts'
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
  ['a program, which names no origin', 200, {}],
  ['a page of this origin', 200, { origin: 'http://OWN' }],
  ['a page of another origin', 403, { origin: 'https://evil.example' }],
  ['a page without an origin', 403, { origin: 'null' }],
  ['a page of another port', 403, { origin: 'http://127.0.0.1:1' }],
  ['a page behind the same proxy', 200, { origin: 'https://ui.example', 'x-forwarded-host': 'ui.example' }],
  ['a page that may call', 200, { origin: 'https://ui.example' }, ALLOWED],
  ['another page than the one that may', 403, { origin: 'https://evil.example' }, ALLOWED],
  ['a page where all may', 200, { origin: 'https://any.example' }, { ...ALLOWED, origins: '*' }],
])('%s is answered %i', async (_, status, headers, crossOrigin) => {
  expect(await post(headers, crossOrigin)).toBe(status)
})

it('lets pages of other origins read nothing but what a browser shows them', async () => {
  expect(await post({ origin: 'https://evil.example' }, undefined, 'GET')).toBe(200)
})
