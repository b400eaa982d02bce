import { expect, it, onTestFinished } from 'vitest'
import { AnswerCache } from '../../../src/registry/routes/answer-cache.ts'
import { startTestRegistry } from '../../support/registry.ts'

it('gives an answer back until the state changes', () => {
  const cache = new AnswerCache()
  cache.keep('/schemas/ids/1', 7, 'one')
  expect(cache.get('/schemas/ids/1', 7)).toBe('one')
  expect(cache.get('/schemas/ids/2', 7)).toBeUndefined()
  expect(cache.get('/schemas/ids/1', 8)).toBeUndefined()
  cache.keep('/schemas/ids/2', 8, 'two')
  expect(cache.get('/schemas/ids/1', 8)).toBeUndefined()
})

it('begins anew when it is full, and keeps nothing that is larger than itself', () => {
  const cache = new AnswerCache()
  const half = 'x'.repeat(4 * 1024 * 1024)
  cache.keep('a', 1, half)
  cache.keep('b', 1, half)
  expect([cache.get('a', 1), cache.get('b', 1)]).toEqual([undefined, half])
  cache.keep('c', 1, half + half)
  expect(cache.get('c', 1)).toBeUndefined()
})

it('never answers with what was true before a write', async () => {
  const registry = await startTestRegistry({ 'schema.compatibility.level': 'none' })
  onTestFinished(() => registry.stop())
  const register = (schema: string) => registry.call('POST', '/subjects/s/versions', { schema })
  const latest = async () => {
    const { status, body } = await registry.call('GET', '/subjects/s/versions/latest')
    return [status, (body as { version?: number }).version]
  }
  await register('"int"')
  expect([await latest(), await latest()]).toEqual([
    [200, 1],
    [200, 1],
  ])
  await register('"long"')
  expect(await latest()).toEqual([200, 2])
  await registry.call('DELETE', '/subjects/s')
  expect(await latest()).toEqual([404, undefined])
})
