import { writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { UNRESTRICTED_CLIENT } from '../../../src/broker/client-access.ts'
import { oauthTokenProvider } from '../../../src/broker/kafka/oauth-token-provider.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

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

it('requests one token for all connections that log in at the same time', async () => {
  let issued = 0
  const endpoint = await startEndpoint((response) => {
    issued += 1
    response.end(JSON.stringify({ access_token: `token-${issued}`, expires_in: 100 }))
  })
  const token = oauthTokenProvider({ 'sasl.oauthbearer.token.endpoint.url': endpoint }, CREDENTIALS)
  expect(await Promise.all([token(), token(), token()])).toEqual(Array(3).fill({ value: 'token-1' }))
})

it('uses a token until it expires when the token endpoint fails to renew it', async () => {
  const statuses = [200, 503, 503]
  const endpoint = await startEndpoint((response) => {
    response.writeHead(statuses.shift() ?? 500).end('{"access_token":"token-1","expires_in":100}')
  })
  const clock = new FakeClock()
  const keys = { 'sasl.oauthbearer.token.endpoint.url': endpoint }
  const token = oauthTokenProvider(keys, CREDENTIALS, UNRESTRICTED_CLIENT, clock)
  await token()
  await clock.advance(99_999)
  expect(await token()).toEqual({ value: 'token-1' })
  await clock.advance(1)
  await expect(token()).rejects.toMatchObject({ code: 'unavailable' })
})

it.each<[Record<string, string>, string]>([
  [{}, 'we:ir:s+1/='],
  [{ 'sasl.oauthbearer.header.urlencode': 'true' }, 'we%3Air:s%2B1%2F%3D'],
])('sends the credentials of the keys since Kafka 4.1, with %j as in Java', async (keys, credentials) => {
  const requests: string[] = []
  const endpoint = await startEndpoint((response, authorization, form) => {
    requests.push(`${authorization} ${form}`)
    response.end('{"access_token":"token-1"}')
  })
  const token = oauthTokenProvider(
    {
      'sasl.oauthbearer.token.endpoint.url': endpoint,
      'sasl.oauthbearer.client.credentials.client.id': 'we:ir',
      'sasl.oauthbearer.client.credentials.client.secret': 's+1/=',
      'sasl.oauthbearer.scope': 'kafka',
      ...keys,
    },
    { extension_logicalCluster: 'lkc-1', extension_identityPoolId: 'pool-1' },
  )
  expect(await token()).toEqual({
    value: 'token-1',
    extensions: { logicalCluster: 'lkc-1', identityPoolId: 'pool-1' },
  })
  const basic = Buffer.from(credentials).toString('base64')
  expect(requests).toEqual([`Basic ${basic} grant_type=client_credentials&scope=kafka`])
})

describe('a token file', () => {
  const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`

  it('is read for each login', async () => {
    const file = join(temporaryDirectory(), 'token')
    const clock = new FakeClock()
    const token = oauthTokenProvider(
      { 'sasl.oauthbearer.token.endpoint.url': `file://${file}` },
      {},
      UNRESTRICTED_CLIENT,
      clock,
    )
    const endSeconds = clock.nowMs() / 1_000 + 60
    const tokens = [jwt({ exp: endSeconds, n: 1 }), jwt({ exp: endSeconds, n: 2 })]
    for (const written of tokens) {
      writeFileSync(file, `${written}\n`)
      expect(await token()).toEqual({ value: written })
    }
    await clock.advance(60_000)
    await expect(token()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining(`file://${file}: the token in the file expired at 2026-01-01T00:01:00.000Z`),
    })
  })

  it.each([
    ['no JWT', 'secret'],
    ['no exp', jwt({ sub: 'alice' })],
    ['no JSON', 'e30.e30x.'],
  ])('with %s is rejected', async (_, content) => {
    const file = join(temporaryDirectory(), 'token')
    writeFileSync(file, content)
    const token = oauthTokenProvider({ 'sasl.oauthbearer.token.endpoint.url': `file://${file}` }, {})
    await expect(token()).rejects.toMatchObject({
      code: 'not_authenticated',
      message: expect.stringContaining('expected a file with a token that is a JWT with exp'),
    })
  })

  it('that does not exist, or that a connector may not read, is named', async () => {
    const token = oauthTokenProvider({ 'sasl.oauthbearer.token.endpoint.url': 'file:///no/such/token' }, {})
    await expect(token()).rejects.toMatchObject({
      code: 'not_authenticated',
      message: expect.stringMatching(/^sasl\.oauthbearer\.token\.endpoint\.url=file:\/\/\/no\/such\/token: ENOENT/),
    })
  })
})

type Respond = (response: ServerResponse, authorization: string, form: string) => void

/** Starts a token endpoint for the running test and returns its URL. */
async function startEndpoint(respond: Respond): Promise<string> {
  const server = createServer(async (request, response) => {
    respond(response, request.headers.authorization ?? '', await text(request))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
}
