import { expect, it, onTestFinished } from 'vitest'
import { startTestRegistry } from '../support/registry.ts'

async function start(settings: Readonly<Record<string, string>>): Promise<string> {
  const registry = await startTestRegistry(settings)
  onTestFinished(() => registry.stop())
  return registry.url
}

it('allows cross-origin requests from the configured origins only', async () => {
  const url = await start({
    'access.control.allow.origin': 'https://ui.example, https://b.example',
    'access.control.allow.methods': 'GET,POST',
    'access.control.allow.headers': 'content-type',
  })
  const preflight = async (origin: string) => {
    const requestHeaders = { origin, 'access-control-request-method': 'POST' }
    const { status, headers } = await fetch(`${url}/subjects`, { method: 'OPTIONS', headers: requestHeaders })
    const allowed = ['origin', 'methods', 'headers'].map((what) => headers.get(`access-control-allow-${what}`))
    return [status, ...allowed]
  }
  expect(await preflight('https://ui.example')).toEqual([204, 'https://ui.example', 'GET,POST', 'content-type'])
  expect((await preflight('https://evil.example')).slice(1)).toEqual([null, null, null])
  const answer = await fetch(`${url}/subjects`, { headers: { origin: 'https://b.example' } })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://b.example'])
})

it('allows no cross-origin requests by default', async () => {
  const { headers } = await fetch(`${await start({})}/subjects`, { headers: { origin: 'https://ui.example' } })
  expect(headers.get('access-control-allow-origin')).toBeNull()
})

it('rejects bodies above the configured size with 413', async () => {
  const url = await start({ 'size.limit.filter.enabled': 'true', 'size.limit.filter.max.request.body.size': '100' })
  const post = async (bytes: number) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/subjects/s/versions`, { method: 'POST', headers, body: `"${'x'.repeat(bytes - 2)}"` }))
      .status
  }
  expect([await post(101), await post(100)]).toEqual([413, 400])
})

it('responds with the configured media type to clients that accept any type', async () => {
  const url = await start({ 'response.mediatype.default': 'application/json' })
  expect((await fetch(`${url}/subjects`)).headers.get('content-type')).toBe('application/json')
  const accepted = 'application/vnd.schemaregistry.v1+json'
  expect((await fetch(`${url}/subjects`, { headers: { accept: accepted } })).headers.get('content-type')).toBe(accepted)
})
