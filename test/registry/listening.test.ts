import { expect, it, onTestFinished } from 'vitest'
import { startTestRegistry } from '../support/registry.ts'

async function start(settings: Readonly<Record<string, string>>): Promise<string> {
  const registry = await startTestRegistry(settings)
  onTestFinished(() => registry.stop())
  return registry.url
}

it('lets the pages of named origins call it, and asks no more of others', async () => {
  const url = await start({
    'access.control.allow.origin': 'https://ui.example, https://b.example',
    'access.control.allow.methods': 'GET,POST',
    'access.control.allow.headers': 'content-type',
  })
  const ask = async (origin: string) => {
    const asked = { origin, 'access-control-request-method': 'POST' }
    const { status, headers } = await fetch(`${url}/subjects`, { method: 'OPTIONS', headers: asked })
    const allowed = ['origin', 'methods', 'headers'].map((what) => headers.get(`access-control-allow-${what}`))
    return [status, ...allowed]
  }
  expect(await ask('https://ui.example')).toEqual([204, 'https://ui.example', 'GET,POST', 'content-type'])
  expect((await ask('https://evil.example')).slice(1)).toEqual([null, null, null])
  const answer = await fetch(`${url}/subjects`, { headers: { origin: 'https://b.example' } })
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, 'https://b.example'])
})

it('lets no page call it unless told so', async () => {
  const { headers } = await fetch(`${await start({})}/subjects`, { headers: { origin: 'https://ui.example' } })
  expect(headers.get('access-control-allow-origin')).toBeNull()
})

it('refuses bodies beyond the bound it was given', async () => {
  const url = await start({ 'size.limit.filter.enabled': 'true', 'size.limit.filter.max.request.body.size': '100' })
  const post = async (bytes: number) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${url}/subjects/s/versions`, { method: 'POST', headers, body: `"${'x'.repeat(bytes - 2)}"` }))
      .status
  }
  expect([await post(101), await post(100)]).toEqual([413, 400])
})

it('answers in the media type it was told, to those who take any', async () => {
  const url = await start({ 'response.mediatype.default': 'application/json' })
  expect((await fetch(`${url}/subjects`)).headers.get('content-type')).toBe('application/json')
  const wanted = 'application/vnd.schemaregistry.v1+json'
  expect((await fetch(`${url}/subjects`, { headers: { accept: wanted } })).headers.get('content-type')).toBe(wanted)
})
