import { expect, it, onTestFinished } from 'vitest'
import { startTestRegistry } from '../../support/registry.ts'

it('responds with the state after the last write', async () => {
  const registry = await startTestRegistry({ 'schema.compatibility.level': 'none' })
  onTestFinished(() => registry.stop())
  const register = async (schema: string) => {
    const { status, body } = await registry.call('POST', '/subjects/s/versions', { schema })
    return [status, (body as { id?: number }).id]
  }
  const lookUp = async (schema: string) => (await registry.call('POST', '/subjects/s', { schema })).status
  const latest = async () => {
    const { status, body } = await registry.call('GET', '/subjects/s/versions/latest')
    return [status, (body as { version?: number }).version]
  }
  expect([await lookUp('"int"'), await latest()]).toEqual([404, [404, undefined]])
  for (let time = 1; time <= 3; time++) {
    expect([await register('"int"'), await latest(), await lookUp('"int"')]).toEqual([[200, 1], [200, 1], 200])
  }
  await register('"long"')
  expect([await latest(), await register('"int"'), await register('"long"')]).toEqual([
    [200, 2],
    [200, 1],
    [200, 2],
  ])
  await registry.call('DELETE', '/subjects/s')
  expect([await latest(), await lookUp('"int"')]).toEqual([[404, undefined], 404])
  // The schema gets its old ID and the next version.
  expect([await register('"int"'), await latest()]).toEqual([
    [200, 1],
    [200, 3],
  ])
})

it('sends ETags that differ between registry instances', async () => {
  const registries = await Promise.all([startTestRegistry(), startTestRegistry()])
  for (const { stop } of registries) onTestFinished(stop)
  const etags = await Promise.all(
    registries.map(async ({ url }) => (await fetch(`${url}/schemas`)).headers.get('etag')),
  )
  expect(new Set(etags).size).toBe(2)
  const statusFor = async (etag: string) =>
    (await fetch(`${registries[0]!.url}/schemas`, { headers: { 'if-none-match': etag } })).status
  expect(await Promise.all([etags[0]!, `W/${etags[0]}`, etags[1]!].map(statusFor))).toEqual([304, 304, 200])
})
