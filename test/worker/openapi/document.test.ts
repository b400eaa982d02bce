import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Exchange } from '../../golden/worker/recording.ts'
import { startTestWorker } from '../../support/worker.ts'
import { checkAnswer, operations, routes } from '../../support/worker-openapi.ts'

/** Routes that the HTTP server of every program has. */
const SERVERS = ['GET /metrics', 'GET /healthz', 'GET /readyz']
/** Routes for requests between workers, which are not documented. */
const INTERNAL = /^(POST \/connectors\/\{name\}\/tasks|PUT \/connectors\/\{name\}\/fence)$/

describe('the OpenAPI document of the worker', () => {
  it('is served, and contains every schema that it refers to', async () => {
    const { url } = await startTestWorker()
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { components: { schemas: object } }
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Weir connector worker' } })
    const named = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining([...named].map(([, name]) => name)))
    for (const line of SERVERS) expect((await fetch(url + line.slice(4))).status).toBe(200)
  })

  it('lists exactly the routes of the server', () => {
    const outside = routes.filter((line) => !INTERNAL.test(line))
    expect([...operations].sort()).toEqual([...outside].sort())
    expect(operations).toEqual(expect.arrayContaining(SERVERS))
  })

  it('describes the recorded responses of Kafka Connect', { tags: ['slow'] }, () => {
    const file = new URL('../../golden/worker/rest.jsonl', import.meta.url)
    const exchanges = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Exchange)
    const good = exchanges.filter(({ method, status }) => status < 300 && !['HEAD', 'OPTIONS'].includes(method))
    expect(good.length).toBeGreaterThan(150)
    for (const { method, path, status, answer } of good) {
      checkAnswer(method, path, status, answer === '' ? undefined : JSON.parse(answer))
    }
  })

  it.each<[method: string, url: string, status: number, body: unknown]>([
    ['GET', '/connectors', 200, [1]],
    ['GET', '/connectors/c/status', 200, { name: 'c', connector: { state: 'RUNNING' }, tasks: [], type: 'sink' }],
    ['GET', '/connectors/c', 404, { error_code: '404', message: 'm' }],
    ['PUT', '/connectors/c/pause', 202, {}],
    ['PUT', '/connectors/c/pause', 204, undefined],
    ['GET', '/nowhere', 200, {}],
  ])('does not allow %s %s to respond with %i %j', (method, url, status, body) => {
    expect(() => checkAnswer(method, url, status, body)).toThrow(`${method} ${url} answered ${status}`)
  })
})
