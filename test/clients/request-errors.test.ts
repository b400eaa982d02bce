import { expect, it } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'

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
