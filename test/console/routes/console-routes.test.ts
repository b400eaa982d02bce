import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { createMetrics } from '../../../src/common/metrics-registry.ts'
import { startRegistry } from '../../../src/registry/main.ts'
import { registrySettings } from '../../../src/registry/settings.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { memoryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const WAIT = { everyMs: 20, timeoutMs: 60_000 }

type RawResponse = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: Buffer }

/** Sends a request whose path is not normalized and whose response is not decompressed, as by `fetch`. */
async function get(url: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawResponse> {
  const { hostname, port } = new URL(url)
  const outgoing = request({ hostname, port, path, headers, agent: false }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }
}

describe('the page', () => {
  let registry: TestRegistry
  beforeAll(async () => {
    registry = await startTestRegistry()
  })
  afterAll(() => registry.stop())

  it('is served with headers that keep other content and other sites out', async () => {
    const { status, headers, body } = await get(registry.url, '/ui?a=b')
    expect([status, headers['content-type']]).toEqual([200, expect.stringContaining('text/html')])
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringContaining("default-src 'none'"),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    })
    expect(body.toString()).toContain('<div id="app">')
  })

  it('redirects a path with a slash at the end, below which its relative URLs would be wrong', async () => {
    const { status, headers } = await get(registry.url, '/ui/?a=b')
    expect([status, headers.location]).toEqual([302, '../ui'])
  })

  it('reports which instance of a registry is the leader', async () => {
    const { status, headers, body } = await get(registry.url, '/ui/api/status')
    expect([status, headers['cache-control']]).toEqual([200, 'no-store'])
    expect(JSON.parse(body.toString())).toEqual({ isLeader: true, leader: null })
  })

  it('has assets that are compressed for clients that accept it, and sent once as long as they are the same', async () => {
    const plain = await get(registry.url, '/ui/assets/style.css')
    const zipped = await get(registry.url, '/ui/assets/style.css', { 'accept-encoding': 'br, gzip' })
    expect(plain.headers['content-encoding']).toBeUndefined()
    expect(zipped.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: expect.stringMatching(/accept-encoding/i),
    })
    expect(gunzipSync(zipped.body)).toEqual(plain.body)
    const { etag = '' } = plain.headers
    const again = await get(registry.url, '/ui/assets/style.css', { 'if-none-match': etag })
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag])
  })

  it.each([
    '/ui/assets/',
    '/ui/assets/missing.js',
    '/ui/assets/../../package.json',
    '/ui/assets/../page-document.ts',
    '/ui/assets/..%2f..%2fassets.ts',
    '/ui/assets/%2e%2e/%2e%2e/assets.ts',
    '/ui/assets//etc/passwd',
    '/ui/assets/..%5c..%5cassets.ts',
    '/ui/assets/main.ts%00.css',
    '/ui/assets/tsconfig.json',
    '/ui/other',
  ])('has nothing at %s', async (path) => {
    expect((await get(registry.url, path)).status).toBe(404)
  })

  it('says which program serves it, and that without authentication every operation is permitted', async () => {
    const { body } = await callAs(undefined, registry.url, 'GET /ui/api/session')
    expect(body).toEqual({
      program: 'registry',
      version: expect.any(String),
      hasResources: false,
      user: null,
      runtimes: [{ kind: 'registry', name: 'registry', basePath: '' }],
    })
    const rights = await callAs(undefined, registry.url, 'GET /ui/api/rights?kind=subjects&name=s')
    expect(rights.body).toEqual({
      operations: ['read', 'write', 'delete', 'harddelete', 'import', 'config', 'mode'],
    })
  })

  it.each(['', '?kind=cats', '?kind=constructor'])(
    'refuses to report rights for an unknown kind (%s)',
    async (query) => {
      const { status, body } = await callAs(undefined, registry.url, `GET /ui/api/rights${query}`)
      expect(status).toBe(400)
      expect(body).toMatchObject({ message: expect.stringContaining('expected subjects, keks, connectors') })
    },
  )

  it('is not served with ui.enabled=false, by worker and registry', async () => {
    const without = await startTestRegistry({ 'ui.enabled': 'false' })
    onTestFinished(() => without.stop())
    const worker = await startTestWorker({ 'ui.enabled': 'false' })
    const paths = ['/ui', '/ui/assets/style.css', '/ui/api/session', '/ui/api/events']
    for (const { url } of [without, worker])
      expect(await Promise.all(paths.map(async (path) => (await get(url, path)).status))).toEqual([404, 404, 404, 404])
  })
})

describe('with authentication', () => {
  const LOG_IN = { root: 'admin', dev: 'developer', eye: 'readonly', ann: 'none' } as const
  const PERMISSIONS = { users: { ann: [{ connectors: ['own-*'], operations: ['read', 'lifecycle'] }] } }
  const SOURCE = { 'connector.class': 'FileStreamSource', topic: 'lines', file: 'none.txt' }

  it('the page is public, and what it reads is not', async () => {
    const { url } = await startTestWorker(await basicAuthSettings(LOG_IN, PERMISSIONS))
    const statusOf = async (path: string, user?: string) => (await callAs(user, url, `GET ${path}`)).status
    for (const path of ['/ui', '/ui?a', '/ui/assets/style.css'])
      expect([path, await statusOf(path)]).toEqual([path, 200])
    for (const path of ['/ui/api/session', '/ui/api/rights?kind=connectors&name=a', '/ui/api/events', '/connectors']) {
      expect([path, await statusOf(path)]).toEqual([path, 401])
      expect([path, await statusOf(path, 'stranger')]).toEqual([path, 401])
    }
    // A public path must not lead to a route that is not.
    for (const path of ['/ui/assets/../../connectors', '/ui/assets/..%2f..%2fconnectors', '/ui//../connectors'])
      expect([path, (await get(url, path)).status]).toEqual([path, expect.toBeOneOf([401, 404])])
    const { body } = await callAs('eye', url, 'GET /ui/api/session')
    expect(body).toMatchObject({ program: 'worker', user: { name: 'eye', role: 'readonly' } })
  })

  it('reports the operations that a role or user may do with an object', async () => {
    const { url } = await startTestWorker(await basicAuthSettings(LOG_IN, PERMISSIONS))
    const operations = async (user: string, name: string) => {
      const { body } = await callAs(user, url, `GET /ui/api/rights?kind=connectors&name=${name}`)
      return (body as { operations: string[] }).operations
    }
    expect(await operations('root', 'a')).toEqual(
      expect.arrayContaining(['read', 'write', 'lifecycle', 'delete', 'offsets']),
    )
    expect(await operations('dev', 'a')).toEqual(['read', 'write', 'lifecycle'])
    expect(await operations('eye', 'a')).toEqual(['read'])
    expect(await operations('ann', 'own-a')).toEqual(['read', 'lifecycle'])
    expect(await operations('ann', 'a')).toEqual([])
  })

  it('events contain only the names of connectors that the user may read', async () => {
    const { url } = await startTestWorker({
      ...(await basicAuthSettings(LOG_IN, PERMISSIONS)),
      'connector.paths.allowed': '/',
    })
    const stream = await fetch(`${url}/ui/api/events`, { headers: { authorization: `Basic ${btoa('ann:ann')}` } })
    let received = ''
    const reading = async () => {
      for await (const chunk of stream.body ?? []) received += Buffer.from(chunk).toString()
    }
    // Ends when the worker stops.
    reading().catch(() => undefined)
    for (const name of ['others', 'own-a']) {
      const connector = { name, config: { ...SOURCE, name }, initial_state: 'STOPPED' }
      const created = await callAs('root', url, 'POST /connectors', connector)
      expect(created.status).toBe(201)
    }
    await until('the event', WAIT, () => received.includes('own-a'))
    expect(received).not.toContain('others')
  })

  it('a request of another site is refused, also with credentials', async () => {
    const { url } = await startTestWorker(await basicAuthSettings(LOG_IN, PERMISSIONS))
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
      const { status } = await callAs('root', url, 'PUT /connectors/a/pause', undefined, headers)
      expect([headers, status]).toEqual([headers, 403])
    }
    // No response permits another site to read it, and none sets a cookie.
    const { headers } = await get(url, '/ui/api/session', { origin: 'https://evil.example' })
    expect(Object.keys(headers)).not.toContain('access-control-allow-origin')
    expect(Object.keys(headers)).not.toContain('set-cookie')
  })
})

describe('when a program stops, it ends the streams of open pages', () => {
  // A stream that is interrupted instead rejects: the server has waited for it and has closed its connection.
  it('before the worker closes its connections', async () => {
    const worker = await startTestWorker()
    const ended = await openEvents(worker.url)
    await worker.stop()
    expect(await ended()).toContain('retry:')
  })

  it('before the registry closes its connections', async () => {
    const logger = silentLogger()
    const broker = await openBroker({ kind: 'embedded', directory: memoryDirectory() }, { logger })
    onTestFinished(() => broker.close())
    const settings = registrySettings([{ key: 'listeners', value: 'http://127.0.0.1:0', source: 'test' }])
    const registry = await startRegistry(settings, { broker, logger, metrics: createMetrics() })
    const ended = await openEvents(registry.url)
    await registry.stop()
    expect(await ended()).toContain('retry:')
  })
})

/** Opens an event stream. The returned function resolves to its text when it has ended. */
async function openEvents(url: string): Promise<() => Promise<string>> {
  const response = await fetch(`${url}/ui/api/events`)
  expect(response.status).toBe(200)
  const text = response.text()
  text.catch(() => undefined)
  return () => text
}
