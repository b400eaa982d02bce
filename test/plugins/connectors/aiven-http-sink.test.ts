import { describe, expect, it, onTestFinished } from 'vitest'
import { aivenHttpSink } from '../../../src/plugins/connectors/http-sink/aiven.ts'
import { INT64, type RawConfig, runSink, STRING, struct, validateConfig } from '../../../src/sdk/index.ts'
import { OK, startHttpServer } from '../../support/http-server.ts'

describe('AivenHttpSink', () => {
  it('sends each record in its own request: strings unchanged, other values as JSON', async () => {
    const { run, server } = await start({
      'http.authorization.type': 'static',
      'http.headers.authorization': 'Token abc',
      'http.headers.content.type': 'application/vnd.x+json',
      'http.headers.additional': 'X-A: 1, X-B:2',
    })
    await run.put([
      { topic: 't', value: 'text' },
      { topic: 't', value: { id: 1 }, valueSchema: struct('x', { id: INT64 }) },
    ])
    expect(server.seen.map(({ body }) => body)).toEqual(['text', '{"id":1}'])
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Token abc',
      'content-type': 'application/vnd.x+json',
      'x-a': '1',
      'x-b': '2',
    })
  })

  it.each<[RawConfig, string]>([
    [{}, 'a\nb\n'],
    [{ 'batch.prefix': '[', 'batch.suffix': ']', 'batch.separator': ',' }, '[a,b]'],
    [{ 'batch.separator': ' \\t', 'batch.suffix': '' }, 'a \tb'],
  ])('sends batches configured by %o', async (config, body) => {
    const { run, server } = await start({ 'batching.enabled': 'true', ...config })
    await run.put([
      { topic: 't', value: 'a' },
      { topic: 't', value: 'b' },
    ])
    expect(server.seen.map((seen) => seen.body)).toEqual([body])
  })

  it('authenticates with an OAuth2 token', async () => {
    const tokens = await startHttpServer(() => ({ status: 200, body: '{"tok":"t1"}' }))
    const { run, server } = await start({
      'http.authorization.type': 'oauth2',
      'oauth2.access.token.url': tokens.url,
      'oauth2.client.id': 'i',
      'oauth2.client.secret': 's',
      'oauth2.client.authorization.mode': 'URL',
      'oauth2.response.token.property': 'tok',
    })
    await run.put([{ topic: 't', value: 'a', valueSchema: STRING }])
    expect(server.seen[0]?.headers.authorization).toBe('Bearer t1')
    expect(tokens.seen[0]?.body).toBe('grant_type=client_credentials&client_id=i&client_secret=s')
  })

  it.each<[RawConfig, string]>([
    [{ 'http.authorization.type': 'static' }, 'http.authorization.type=static requires http.headers.authorization'],
    [
      { 'http.authorization.type': 'oauth2', 'oauth2.client.id': 'i', 'oauth2.client.secret': 's' },
      'http.authorization.type=oauth2 requires oauth2.access.token.url',
    ],
    [
      { 'http.headers.additional': 'x' },
      'Invalid value for configuration http.headers.additional: a header must be NAME:VALUE',
    ],
  ])('rejects the configuration %o', (written, message) => {
    const raw = { 'http.url': 'http://h/', ...written }
    const errors = validateConfig(aivenHttpSink.config, raw).flatMap((value) => value.errors)
    expect(errors).toEqual([expect.stringContaining(message)])
  })
})

async function start(config: RawConfig) {
  const server = await startHttpServer(() => OK)
  const run = await runSink(aivenHttpSink, { config: { 'http.url': server.url, ...config } })
  onTestFinished(() => run.stop())
  return { server, run }
}
