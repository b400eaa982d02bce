import Fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestRegistry } from '../../support/registry.ts'
import { checkAnswer, operations } from '../../support/registry-openapi.ts'

// Every answer of the tests that use `startTestRegistry`, the contract's among them, is held to the document too.

describe('the OpenAPI document', () => {
  it('is served, and validates as what it says it is', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const { status, body } = await registry.call('GET', '/openapi.json')
    expect([status, body]).toEqual([200, expect.objectContaining({ openapi: '3.1.0', paths: expect.any(Object) })])
    const named = JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    const { components } = body as { components: { schemas: object } }
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([...named].map(([, name]) => name)))
  })

  it('has every route there is, and no other', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const routes: string[] = []
    const app = Fastify({ exposeHeadRoutes: false })
    app.addHook('onRoute', ({ method, url }) => {
      for (const one of [method].flat())
        routes.push(`${one} ${url.replace(/(?<!:):(\w+)/g, '{$1}').replace('::', ':')}`)
    })
    await registry.routes(app)
    // The server's own, of every program.
    const own = ['GET /metrics', 'GET /healthz', 'GET /readyz']
    for (const line of own) expect((await fetch(registry.url + line.slice(4))).status).toBe(200)
    expect([...routes, ...own].sort()).toEqual([...operations].sort())
  })

  it.each<[method: string, url: string, status: number, body: unknown]>([
    ['GET', '/subjects', 200, [1]],
    ['GET', '/subjects/s/versions/1', 200, { subject: 's', version: 1, id: 1, schema: '"int"', more: true }],
    ['GET', '/subjects/s/versions/1', 200, { subject: 's', version: 1, schema: '"int"' }],
    ['GET', '/contexts/.c/subjects/s/versions/1', 404, { error_code: '40401', message: 'm' }],
    ['DELETE', '/contexts/.c', 204, {}],
    ['GET', '/subjects', 201, []],
    ['GET', '/nowhere', 200, {}],
  ])('would not let %s %s answer %i %j', (method, url, status, body) => {
    expect(() => checkAnswer(method, url, status, body)).toThrow(`${method} ${url} answered ${status}`)
  })
})
