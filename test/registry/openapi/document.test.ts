import { describe, expect, it, onTestFinished } from 'vitest'
import { startTestRegistry } from '../../support/registry.ts'
import { checkAnswer, operations, routes } from '../../support/registry-openapi.ts'

// `startTestRegistry` checks every response against the document, also in the contract tests.

describe('the OpenAPI document', () => {
  it('is served, and defines every schema that it references', { tags: ['slow'] }, async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const { status, body } = await registry.call('GET', '/openapi.json')
    expect([status, body]).toEqual([200, expect.objectContaining({ openapi: '3.1.0', paths: expect.any(Object) })])
    const named = JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    const { components } = body as { components: { schemas: object } }
    expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining([...named].map(([, name]) => name)))
  })

  it('describes exactly the routes of the server', async () => {
    expect([...operations].sort()).toEqual([...routes].sort())
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    // Routes that the HTTP server adds in every program.
    for (const line of ['GET /metrics', 'GET /healthz', 'GET /readyz']) {
      expect((await fetch(registry.url + line.slice(4))).status).toBe(200)
      expect(operations).toContain(line)
    }
  })

  it.each<[method: string, url: string, status: number, body: unknown]>([
    ['GET', '/subjects', 200, [1]],
    ['GET', '/subjects/s/versions/1', 200, { subject: 's', version: 1, id: 1, schema: '"int"', more: true }],
    ['GET', '/subjects/s/versions/1', 200, { subject: 's', version: 1, schema: '"int"' }],
    ['GET', '/contexts/.c/subjects/s/versions/1', 404, { error_code: '40401', message: 'm' }],
    ['GET', '/subjects/s/versions/1', 404, { error_code: 40403, message: 'm' }],
    ['POST', '/subjects/s/versions', 404, { error_code: 40401, message: 'm' }],
    ['DELETE', '/contexts/.c', 204, {}],
    ['GET', '/subjects', 201, []],
    ['GET', '/nowhere', 200, {}],
  ])('rejects the response of %s %s with status %i and body %j', (method, url, status, body) => {
    expect(() => checkAnswer(method, url, status, body)).toThrow(`${method} ${url} answered ${status}`)
  })
})
