import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { UNRESTRICTED_CLIENT } from '../../../src/broker/client-access.ts'
import { oauthTokenProvider } from '../../../src/broker/kafka/oauth-token-provider.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const CREDENTIALS = { clientId: 'alice', clientSecret: 'secret' }

it.each([
  [400, 'not_authenticated'],
  [401, 'not_authenticated'],
  [408, 'unavailable'],
  [429, 'unavailable'],
  [503, 'unavailable'],
])('reports HTTP %i from the token endpoint as %s', async (status, code) => {
  const endpoint = await startEndpoint((response) => response.writeHead(status).end())
  const token = oauthTokenProvider({ 'sasl.oauthbearer.token.endpoint.url': endpoint }, CREDENTIALS)
  await expect(token()).rejects.toMatchObject({ code, message: `${endpoint} returned no token: HTTP ${status}` })
})

it.each([
  ['no JSON', 'gateway is starting'],
  ['no token', '{"token_type":"bearer"}'],
  ['an empty token', '{"access_token":""}'],
  ['null', 'null'],
])('reports a response with %s as unavailable, and requests another one', async (_, body) => {
  const bodies = [body, '{"access_token":"token-1"}']
  const endpoint = await startEndpoint((response) => response.end(bodies.shift()))
  const token = oauthTokenProvider({ 'sasl.oauthbearer.token.endpoint.url': endpoint }, CREDENTIALS)
  await expect(token()).rejects.toMatchObject({
    code: 'unavailable',
    message: `${endpoint} returned no token: the response is not JSON with an access_token`,
  })
  expect(await token()).toEqual({ value: 'token-1' })
})

it('reads at most 1 MB of a response', async () => {
  const endpoint = await startEndpoint((response) => {
    const chunk = ' '.repeat(65_536)
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write).on('error', () => undefined)
    write()
  })
  const token = oauthTokenProvider({ 'sasl.oauthbearer.token.endpoint.url': endpoint }, CREDENTIALS)
  await expect(token()).rejects.toMatchObject({
    code: 'unavailable',
    message: `${endpoint} returned no token: the response has more than 1000000 bytes`,
  })
})

it('requests a new token after 80 % of the lifetime of the previous one', async () => {
  let issued = 0
  const endpoint = await startEndpoint((response) => {
    issued += 1
    response.end(JSON.stringify({ access_token: `token-${issued}`, expires_in: 100 }))
  })
  const clock = new FakeClock()
  const keys = { 'sasl.oauthbearer.token.endpoint.url': endpoint }
  const token = oauthTokenProvider(keys, CREDENTIALS, UNRESTRICTED_CLIENT, clock)
  expect(await token()).toEqual({ value: 'token-1' })
  await clock.advance(79_999)
  expect(await token()).toEqual({ value: 'token-1' })
  await clock.advance(1)
  expect(await token()).toEqual({ value: 'token-2' })
})

/** Starts a token endpoint for the running test and returns its URL. */
async function startEndpoint(respond: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_, response) => respond(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
}
