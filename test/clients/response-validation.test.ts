import { describe, expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker.ts'

/** Clients of somebody who gives this answer to everything. */
function clientsOf(text: string): { readonly registry: RegistryClient; readonly worker: WorkerClient } {
  const endpoint = { url: 'http://runtime', through: async () => ({ status: 200, text }) }
  return { registry: createRegistryClient(endpoint), worker: createWorkerClient(endpoint) }
}

describe('an answer of another shape than was asked for', () => {
  it.each(['{"id":"1"}', '[]', '"text"', '', '<html>'])('is none, and may be another one later: %s', async (text) => {
    const { registry, worker } = clientsOf(text)
    const none = { name: 'RequestError', status: 0, retriable: true }
    await expect(registry.register('s', { schema: '"int"' })).rejects.toMatchObject(none)
    await expect(registry.mode()).rejects.toMatchObject(none)
    await expect(worker.status('c')).rejects.toMatchObject(none)
    await expect(worker.validate('C', {})).rejects.toMatchObject(none)
  })

  it('is told with the place where it differs', async () => {
    const { registry, worker } = clientsOf('{"id":"1"}')
    await expect(registry.register('s', { schema: '"int"' })).rejects.toThrow(
      'POST http://runtime/subjects/s/versions: unexpected response at id: Invalid input: expected number, received string',
    )
    await expect(worker.list()).rejects.toThrow('at id: Invalid input: expected object, received string')
  })

  it('is not one that has more than is known', async () => {
    const { registry } = clientsOf('{"id":1,"newer":[2]}')
    expect(await registry.register('s', { schema: '"int"' })).toEqual({ id: 1, newer: [2] })
  })
})
