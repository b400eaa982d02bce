import { expect, it } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { ResponseBudget } from '../../src/clients/response-budget.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { startHttpServer } from '../support/http-server.ts'

it.each([
  ['no response', {}, /^POST http:\/\/127\.0\.0\.1:1\/v1\/subjects\/s\/versions: connect ECONNREFUSED/],
  [
    'an unexpected response',
    { through: async () => ({ status: 200, text: '[]' }) },
    /^POST http:\/\/127\.0\.0\.1:1\/v1\/subjects\/s\/versions: unexpected response/,
  ],
])('the error for %s names the URL without its user and password', async (_, options, message) => {
  const registry = createRegistryClient({ url: 'http://bob:hunter22@127.0.0.1:1/v1', ...options })
  await expect(registry.register('s', { schema: '"int"' })).rejects.toThrow(message)
})

it('keeps the beginning and the end of a long message of a server', async () => {
  const message = `Connector ${'x'.repeat(5_000_000)} already exists`
  const { url } = await startHttpServer(() => ({ status: 409, body: JSON.stringify({ error_code: 409, message }) }))
  const created = createWorkerClient({ url }).create('x', {})
  await expect(created).rejects.toMatchObject({
    status: 409,
    retriable: false,
    message: expect.stringMatching(/^Connector x{4000,}… \(\d+ more bytes\) …x{4000,} already exists$/),
  })
})

it('ends a response that is longer than the limit, and further ones beyond the limit of all together', async () => {
  const config = { a: 'x'.repeat(100_000) }
  const body = JSON.stringify({ name: 'c', config, tasks: [], type: 'source' })
  const { url } = await startHttpServer(() => ({ status: 200, body }))
  const get = (bytesMax: number, totalBytesMax: number) => {
    const responseBudget = new ResponseBudget({ bytesMax, totalBytesMax })
    return () => createWorkerClient({ url, responseBudget }).get('c')
  }
  await expect(get(50_000, 1_000_000)()).rejects.toThrow(/\/connectors\/c: the response has more than 50000 bytes$/)
  const getTwo = get(150_000, 150_000)
  await expect(getTwo()).resolves.toMatchObject({ config })
  const both = await Promise.allSettled([getTwo(), getTwo()])
  const reasons = both.flatMap((one) => (one.status === 'rejected' ? [(one.reason as Error).message] : []))
  expect(reasons.every((reason) => reason.endsWith('being read have more than 150000 bytes'))).toBe(true)
  await expect(getTwo()).resolves.toMatchObject({ config })
})

it('shortens the traces of failed tasks while it reads them', async () => {
  const trace = `Error: first\n${'\tat frame\n'.repeat(100_000)}Caused by: last\n`
  const tasks = [{ id: 0, state: 'FAILED', worker_id: 'w', trace }]
  const status = { name: 'c', connector: { state: 'RUNNING', worker_id: 'w' }, tasks, type: 'source' }
  const config = { script: 'x'.repeat(100_000) }
  const info = { name: 'c', config, tasks: [], type: 'source' }
  const { url } = await startHttpServer(({ path }) => ({
    status: 200,
    body: JSON.stringify(path.endsWith('/status') ? status : { c: { info, status } }),
  }))
  const worker = createWorkerClient({ url })
  const kept = /^Error: first\n[^…]*… \(\d+ more bytes\) …\n[^…]*Caused by: last\n$/
  const { tasks: alone } = await worker.status('c')
  expect(alone[0]?.trace).toMatch(kept)
  expect(alone[0]?.trace?.length).toBeGreaterThan(25_000)
  const { c: listed } = await worker.list()
  expect(listed?.status?.tasks[0]?.trace).toMatch(kept)
  expect(listed?.status?.tasks[0]?.trace?.length).toBeLessThan(1_100)
  expect(listed?.info?.config).toEqual(config)
})
