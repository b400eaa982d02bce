import { describe, expect, it, onTestFinished } from 'vitest'
import { type ClientCredentials, clientCredentials } from '../../../src/plugins/connectors/http/authorization.ts'
import { createTransport } from '../../../src/plugins/connectors/http/transport.ts'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { runSink, UNRESTRICTED } from '../../../src/sdk/index.ts'
import { OK, type Reply, repliesInOrder, startHttpServer } from '../../support/http-server.ts'

const { signal } = new AbortController()

describe('clientCredentials', () => {
  it('requests one token for concurrent callers, and renews it before it expires', async () => {
    const { authorization, server, clock } = await start(repliesInOrder(token('one', 600), token('two', 600)))
    expect(await Promise.all([authorization.header(signal), authorization.header(signal)])).toEqual([
      'Bearer one',
      'Bearer one',
    ])
    clock.ms = 539_000
    expect(await authorization.header(signal)).toBe('Bearer one')
    clock.ms = 541_000
    expect(await authorization.header(signal)).toBe('Bearer two')
    expect(server.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /token', 'POST /token'])
  })

  it('requests a new token after a rejection, unless the rejected token was already replaced', async () => {
    const { authorization, server } = await start(repliesInOrder(token('one', 600), token('two', 600)))
    const old = (await authorization.header(signal))!
    expect(authorization.invalidate(old)).toBe(true)
    expect(await authorization.header(signal)).toBe('Bearer two')
    expect(authorization.invalidate(old)).toBe(true)
    expect(await authorization.header(signal)).toBe('Bearer two')
    expect(server.seen).toHaveLength(2)
  })

  it.each<[ClientCredentials['mode'], string | undefined, string]>([
    ['header', 'Basic YSUyRmI6cyUzQXQ=', 'grant_type=client_credentials&scope=read+write'],
    ['url', undefined, 'grant_type=client_credentials&scope=read+write&client_id=a%2Fb&client_secret=s%3At'],
  ])('sends id and secret in mode %s', async (mode, header, body) => {
    const { authorization, server } = await start(() => token('x', 600), { mode, scope: 'read write' })
    await authorization.header(signal)
    expect(server.seen[0]).toMatchObject({ body })
    expect(server.seen[0]?.headers.authorization).toBe(header)
  })

  it.each<[string, Reply, object]>([
    [
      'is retriable',
      { status: 503 },
      { code: 'retriable', message: expect.stringMatching(/token: POST .* responded with 503$/) },
    ],
    [
      'is retriable',
      'cut',
      {
        code: 'retriable',
        message: expect.stringMatching(/^cannot obtain an OAuth2 token: .*the server closed the connection/),
      },
    ],
    [
      'is permanent: wrong credentials',
      { status: 401, body: '{"error":"invalid_client","error_description":"s:t is wrong"}' },
      { message: expect.stringMatching(/responded with 401 \(invalid_client\): check oauth2\.client\.id, [^:]*$/) },
    ],
    [
      'is permanent: no token in the response',
      { status: 200, body: '{"token":"x"}' },
      { message: expect.stringMatching(/has no string member 'access_token'/) },
    ],
  ])('throws an error that %s', async (_, reply, error) => {
    const { authorization } = await start(() => reply)
    await expect(authorization.header(signal)).rejects.toMatchObject(error)
  })

  it('repeats a request of HttpSink with a new token after a 401', async () => {
    const tokens = await startHttpServer(repliesInOrder(token('old', 600), token('new', 600)))
    const server = await startHttpServer(({ headers }) =>
      headers.authorization === 'Bearer new' ? OK : { status: 401 },
    )
    const run = await runSink(httpSink, {
      config: {
        'http.api.url': server.url,
        'auth.type': 'OAUTH2',
        'oauth2.token.url': `${tokens.url}/token`,
        'oauth2.client.id': 'a',
        'oauth2.client.secret': 'b',
      },
    })
    onTestFinished(() => run.stop())
    await run.put([{ topic: 't', value: 'x' }])
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
  })
})

function token(value: string, seconds: number): Reply {
  return { status: 200, body: JSON.stringify({ access_token: value, token_type: 'bearer', expires_in: seconds }) }
}

async function start(react: Parameters<typeof startHttpServer>[0], own: Partial<ClientCredentials> = {}) {
  const server = await startHttpServer(react)
  const transport = createTransport({
    network: UNRESTRICTED.network,
    connectTimeoutMs: 5_000,
    requestTimeoutMs: 5_000,
    responseBytesMax: 10_000,
    whenLonger: 'cut',
  })
  onTestFinished(() => transport.close())
  const clock = { ms: 0 }
  const credentials = {
    tokenUrl: `${server.url}/token`,
    clientId: 'a/b',
    clientSecret: 's:t',
    mode: 'header',
    tokenProperty: 'access_token',
    ...own,
  } as const
  return { server, clock, authorization: clientCredentials(credentials, { transport, nowMs: () => clock.ms }) }
}
