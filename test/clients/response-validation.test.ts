import { describe, expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'

/** Clients whose requests all get this response. */
function clientsOf(text: string): { readonly registry: RegistryClient; readonly worker: WorkerClient } {
  const endpoint = { url: 'http://runtime', through: async () => ({ status: 200, text }) }
  return { registry: createRegistryClient(endpoint), worker: createWorkerClient(endpoint) }
}

describe('a response with an unexpected shape', () => {
  it.each(['{"id":"1"}', '[]', '"text"', '', '<html>'])('is a retriable RequestError: %s', async (text) => {
    const { registry, worker } = clientsOf(text)
    const error = { name: 'RequestError', status: 0, retriable: true }
    await expect(registry.register('s', { schema: '"int"' })).rejects.toMatchObject(error)
    await expect(registry.mode()).rejects.toMatchObject(error)
    await expect(worker.status('c')).rejects.toMatchObject(error)
    await expect(worker.validate('C', {})).rejects.toMatchObject(error)
  })

  it('is reported with the path of the wrong member', async () => {
    const { registry, worker } = clientsOf('{"id":"1"}')
    await expect(registry.register('s', { schema: '"int"' })).rejects.toThrow(
      'POST http://runtime/subjects/s/versions: unexpected response at id: Invalid input: expected number, received string',
    )
    await expect(worker.list()).rejects.toThrow('at id: Invalid input: expected object, received string')
  })

  it('is not reported for additional members', async () => {
    const { registry } = clientsOf('{"id":1,"newer":[2]}')
    expect(await registry.register('s', { schema: '"int"' })).toEqual({ id: 1, newer: [2] })
  })
})
