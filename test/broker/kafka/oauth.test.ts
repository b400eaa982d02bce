import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { oauthTokenProvider } from '../../../src/broker/kafka/oauth.ts'

it.each([
  [400, 'not_authenticated'],
  [401, 'not_authenticated'],
  [408, 'unavailable'],
  [429, 'unavailable'],
  [503, 'unavailable'],
])('takes HTTP %i of the token endpoint for %s', async (status, code) => {
  const server = createServer((_, response) => response.writeHead(status).end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  const token = oauthTokenProvider(
    { 'sasl.oauthbearer.token.endpoint.url': endpoint },
    { clientId: 'alice', clientSecret: 'secret' },
  )
  await expect(token()).rejects.toMatchObject({ code, message: `${endpoint} gave no token: HTTP ${status}` })
})
