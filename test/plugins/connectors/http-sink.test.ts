import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { TransportRequest, TransportResponse } from '../../../src/plugins/connectors/http/transport.ts'
import { httpSink, toSettings } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { HttpDelivery } from '../../../src/plugins/connectors/http-sink/delivery.ts'
import {
  defineSink,
  type HarnessRecord,
  INT64,
  runSink,
  STRING,
  struct,
  validateConfig,
} from '../../../src/sdk/index.ts'
import { OK, type Reply, type Responder, repliesInOrder, startHttpServer } from '../../support/http-server.ts'

describe('HttpSink', () => {
  it('sends each value in its own request, sequentially over one connection', async () => {
    const { run, server } = await start(() => OK)
    await run.put(values('a', 'b', 'c'))
    expect(server.seen.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/in', 'a'],
      ['POST', '/in', 'b'],
      ['POST', '/in', 'c'],
    ])
    expect(server.connections()).toBe(1)
    expect(await run.flush()).toEqual([{ topic: 't', partition: 0, offset: 3 }])
  })

  it('sends consecutive records in one request, limited by batch.max.size and batch.key.pattern', async () => {
    const { run, server } = await start(() => OK, {
      'batch.max.size': '2',
      'batch.key.pattern': '${key}',
      'batch.prefix': '<',
      'batch.suffix': '>',
      'batch.separator': ' ',
    })
    const of = (key: string, value: string) => ({ topic: 't', key, value })
    await run.put([of('x', '1'), of('x', '2'), of('x', '3'), of('y', '4'), of('x', '5')])
    expect(server.seen.map(({ body }) => body)).toEqual(['<1 2>', '<3>', '<4>', '<5>'])
  })

  it('sends JSON arrays of structs and of strings that contain JSON', async () => {
    const { run, server } = await start(() => OK, {
      'request.body.format': 'json',
      'batch.json.as.array': 'true',
      'batch.max.size': '10',
    })
    const schema = struct('order', { id: INT64, name: STRING })
    await run.put([
      { topic: 't', value: { id: 7, name: 'x' }, valueSchema: schema },
      { topic: 't', value: '{"id":8}' },
      { topic: 't', value: 'no json' },
    ])
    expect(server.seen[0]?.body).toBe('[{"id":7,"name":"x"},{"id":8},"no json"]')
    expect(server.seen[0]?.headers['content-type']).toBe('application/json')
  })

  it('inserts fields of the record into the URL and headers, and encodes them in the URL', async () => {
    const { run, server } = await start(
      () => OK,
      { headers: 'X-Who: ${user.name}|X-At:${topic}-${partition}-${offset}' },
      '/${topic}/${key}',
    )
    await run.put([{ topic: 't', key: '../a b?', value: { user: { name: 'ann' } }, offset: 5 }])
    expect(server.seen[0]).toMatchObject({
      path: '/t/..%2Fa%20b%3F',
      headers: { 'x-who': 'ann', 'x-at': 't-0-5' },
    })
    await run.put([{ topic: 't', key: 'k', value: { user: {} } }])
    expect(run.rejected.map(({ error }) => error.message)).toEqual([
      'the record has no value for the placeholder ${user.name}',
    ])
  })

  it.each(['', '.', '..'])('rejects a record whose key %j would make the URL that of another resource', async (key) => {
    for (const path of ['/in/${key}', '/in', '/in/${key}/x']) {
      const { run, server } = await start(() => OK, { 'behavior.on.null.values': 'delete' }, path)
      await run.put([{ topic: 't', key, value: null }])
      expect(server.seen).toEqual([])
      expect(run.rejected.map(({ error }) => error.message)).toEqual([
        `the values of the record make the part '\${key}' of http.api.url '${key}': another resource`,
      ])
    }
    const { run, server } = await start(() => OK, {}, '/in/a.${key}?id=${key}')
    await run.put([{ topic: 't', key, value: 'v' }])
    expect(server.seen[0]?.path).toBe(`/in/a.${key}?id=${key}`)
  })

  it('applies regex.patterns and regex.replacements with the syntax of Java', async () => {
    const { run, server } = await start(() => OK, {
      'regex.patterns': '(?i)SECRET=(\\d+)~b',
      'regex.replacements': 'secret=<$1>~c',
    })
    await run.put(values('Secret=12 b, secret=3'))
    expect(server.seen[0]?.body).toBe('secret=<12> c, secret=<3>')
  })

  it.each([
    ['ignore', [], []],
    ['delete', [['DELETE', '/in/k', '']], []],
    ['fail', [], ['the record has no value']],
  ])('handles records without a value with behavior.on.null.values=%s', async (word, requests, refused) => {
    const { run, server } = await start(() => OK, { 'behavior.on.null.values': word })
    await run.put([{ topic: 't', key: 'k', value: null }])
    expect(server.seen.map(({ method, path, body }) => [method, path, body])).toEqual(requests)
    expect(run.rejected.map(({ error }) => error.message)).toEqual(refused)
  })

  it.each<[string, Reply, RegExp]>([
    ['429', { status: 429, headers: { 'retry-after': '7' } }, /responded with 429/],
    ['503', { status: 503, body: 'over  load' }, /responded with 503: over load/],
    ['an incomplete response', 'half', /: the server closed the connection/],
  ])('retries after %s without the records that were already delivered', async (_, failure, reason) => {
    const { run, server } = await start(repliesInOrder(OK, failure, OK))
    const records = values('a', 'b', 'c')
    await expect(run.put(records)).rejects.toMatchObject({ code: 'retriable', message: expect.stringMatching(reason) })
    await run.put(records)
    expect(server.seen.map(({ body }) => body)).toEqual(['a', 'b', 'b', 'c'])
    expect(run.rejected).toEqual([])
  })

  it('sends records again if their partition was revoked and assigned again', async () => {
    const { run, server } = await start(repliesInOrder(OK, OK, { status: 503 }, OK))
    const records = [
      { topic: 't', offset: 1, value: 'a' },
      { topic: 't-0', offset: 2, value: 'b' },
      { topic: 't', offset: 3, value: 'c' },
    ]
    await expect(run.put(records)).rejects.toMatchObject({ code: 'retriable' })
    await run.close([{ topic: 't', partition: 0 }])
    await run.put(records)
    expect(server.seen.map(({ body }) => body)).toEqual(['a', 'b', 'c', 'a', 'c'])
  })

  it('sends a record again that is put again after its batch, as when offsets are reset', async () => {
    const { run, server } = await start(() => OK)
    await run.put(values('a', 'b'))
    await run.put(values('a', 'b'))
    expect(server.seen.map(({ body }) => body)).toEqual(['a', 'b', 'a', 'b'])
  })

  it('hides secrets in errors about records that cannot be sent', async () => {
    const { run } = await start(() => OK, { headers: 'X-Token: ${token}' }, '/in?token=${token}')
    await run.put([{ topic: 't', value: { token: 'ge\nheim' } }])
    const other = await runSink(httpSink, { config: { 'http.api.url': 'http://ann:geheim@${host}/in?token=geheim' } })
    onTestFinished(() => other.stop())
    await other.put([{ topic: 't', value: { host: 'x y' } }])
    expect([...run.rejected, ...other.rejected].map(({ error }) => error.message)).toEqual([
      'the value of the header x-token contains characters that are not allowed in headers',
      "'http://x%20y/in' is not a valid URL: check http.api.url and the values that it inserts",
    ])
  })

  it('retries after a lost connection, immediately on a new connection if it was a reused one', async () => {
    const { run, server } = await start(repliesInOrder('cut', OK, 'cut', OK))
    await expect(run.put(values('a', 'b'))).rejects.toMatchObject({
      code: 'retriable',
      message: expect.stringMatching(/^POST http:\/\/127\.0\.0\.1:\d+\/in: the server closed the connection before/),
    })
    await run.put(values('a', 'b'))
    expect(server.seen.map(({ body }) => body)).toEqual(['a', 'a', 'b', 'b'])
    expect(server.connections()).toBe(3)
  })

  it.each([
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['a date, compared with the Date header', ahead(20_000, -3_600_000), 20_000],
    ['a date in the past', ahead(-20_000, 0), 50],
    ['an invalid value', { 'retry-after': 'soon' }, 50],
  ])('waits for the Retry-After of the server: %s', async (_, headers, waitMs) => {
    const { run } = await start(() => ({ status: 429, headers }), {
      'retry.backoff.ms': '50',
      'retry.backoff.policy': 'CONSTANT_VALUE',
    })
    const error = await run.put(values('a')).catch((failed: { retryAfterMs: number }) => failed)
    expect(error?.retryAfterMs).toBeGreaterThanOrEqual(waitMs / 2)
    expect(error?.retryAfterMs).toBeLessThanOrEqual(waitMs)
  })

  it('fails after max.retries consecutive attempts without a delivered record', async () => {
    const { run } = await start(repliesInOrder({ status: 503 }, { status: 503 }, OK, { status: 503 }), {
      'max.retries': '2',
    })
    const records = values('a', 'b')
    const outcome = () => run.put(records).catch((error: Error) => error)
    const outcomes = [await outcome(), await outcome(), await outcome(), await outcome(), await outcome()]
    expect(outcomes.map((error) => (error as { code?: string }).code)).toEqual([
      'retriable',
      'retriable',
      'retriable',
      'retriable',
      undefined,
    ])
    expect(outcomes.at(-1)?.message).toMatch(
      /responded with 503; gave up after 2 retries \(max\.retries\)\. No record is lost/,
    )
  })

  it('retries after a timeout, with the timeout in the error', async () => {
    const { run } = await start(() => new Promise<Reply>(() => {}), { 'http.request.timeout.ms': '50' })
    await expect(run.put(values('a'))).rejects.toThrow(/\/in: no complete response within 50 ms/)
  })

  it('retries if the body of the response is not received in time', async () => {
    const { run } = await start(() => 'slow', { 'http.request.timeout.ms': '50' })
    await expect(run.put(values('a'))).rejects.toMatchObject({
      code: 'retriable',
      message: expect.stringMatching(/\/in: no complete response within 50 ms/),
    })
  })

  it('accepts a response of any length, and truncates it in errors', async () => {
    const { run } = await start(() => ({ status: 200, body: 'x'.repeat(1_000_000) }))
    await run.put(values('a'))
    const refusing = await start(() => ({ status: 400, body: 'y'.repeat(1_000_000) }))
    await refusing.run.put(values('a'))
    expect(refusing.run.rejected[0]?.error.message).toMatch(/rejected the request with 400: y{300}$/)
  })

  it('splits a rejected batch until the rejected records are found, and delivers the others in order', async () => {
    const taken: string[] = []
    const { run } = await start(
      ({ body }) => {
        if (/bad/.test(body)) return { status: 422, body: '{"reason":"bad"}' }
        taken.push(...body.split(','))
        return OK
      },
      { 'batch.max.size': '8' },
    )
    await run.put(values('1', '2', 'bad3', '4', '5', 'bad6', 'bad7', '8'))
    expect(taken).toEqual(['1', '2', '4', '5', '8'])
    expect(run.rejected.map(({ record }) => record.value)).toEqual(['bad3', 'bad6', 'bad7'])
    expect(run.rejected[0]?.error.message).toMatch(
      /\/in: the server rejected the request with 422: \{"reason":"bad"\}$/,
    )
  })

  it('ignores rejected records with behavior.on.error=ignore', async () => {
    const { run } = await start(() => ({ status: 400 }), { 'behavior.on.error': 'ignore' })
    await run.put(values('a'))
    expect(run.rejected).toEqual([])
  })

  it.each<[number, Readonly<Record<string, string>>, RegExp]>([
    [401, {}, /responded with 401: authentication failed: check auth\.type/],
    [403, {}, /responded with 403: permission denied: grant this client/],
    [
      302,
      { location: 'https://elsewhere/x?token=1' },
      /responded with 302: it is a redirect to https:\/\/elsewhere\/x; redirects/,
    ],
  ])('fails the task at status %i without rejecting a record', async (status, headers, message) => {
    const { run } = await start(() => ({ status, headers }))
    const error = await run.put(values('a')).catch((failed: Error) => failed)
    expect(error).toMatchObject({ message: expect.stringMatching(message) })
    expect(error).not.toHaveProperty('code')
    expect(run.rejected).toEqual([])
  })

  it('retries if the server is unavailable, with its address in the error', async () => {
    const run = await runSink(httpSink, { config: { 'http.api.url': 'http://127.0.0.1:1/in?token=geheim' } })
    onTestFinished(() => run.stop())
    await expect(run.put(values('a'))).rejects.toMatchObject({
      code: 'retriable',
      message: 'POST http://127.0.0.1:1/in: connect ECONNREFUSED 127.0.0.1:1',
    })
  })

  it('sends records of other keys while a request is pending, but keeps the order per key', async () => {
    const release = Promise.withResolvers<Reply>()
    const { run, server } = await start(({ body }) => (body === 'a1' ? release.promise : OK), {
      'max.in.flight.requests': '16',
    })
    const of = (key: string, value: string) => ({ topic: 't', key, value })
    const putting = run.put([of('a', 'a1'), of('a', 'a2'), of('b', 'b1'), of('b', 'b2')])
    await expect.poll(() => server.seen.map(({ body }) => body).toSorted()).toEqual(['a1', 'b1', 'b2'])
    release.resolve(OK)
    await putting
    expect(server.seen.at(-1)?.body).toBe('a2')
    expect(server.seen.map(({ body }) => body).filter((body) => body.startsWith('b'))).toEqual(['b1', 'b2'])
  })

  it('starts no further request after a fatal status', async () => {
    const failed = Promise.withResolvers<void>()
    const bodies: TransportRequest['body'][] = []
    const send = async ({ body }: TransportRequest): Promise<TransportResponse> => {
      bodies.push(body)
      if (body === 'b1') await failed.promise
      // Behind whatever the refusal of the other lane has set off.
      if (body === 'b1') await setImmediate()
      if (body === 'a1') failed.resolve()
      return { status: body === 'a1' ? 401 : 200, headers: {}, body: Buffer.alloc(0) }
    }
    const sink = defineSink({
      ...httpSink,
      start: ({ config, log, signal, reject }) =>
        new HttpDelivery({ settings: toSettings(config), connection: { send, close: () => {} }, log, signal, reject }),
    })
    const run = await runSink(sink, { config: { 'http.api.url': 'http://h/', 'max.in.flight.requests': '16' } })
    onTestFinished(() => run.stop())
    const of = (key: string, value: string) => ({ topic: 't', key, value })
    await expect(run.put([of('a', 'a1'), of('b', 'b1'), of('b', 'b2')])).rejects.toThrow(/responded with 401/)
    expect(bodies.toSorted()).toEqual(['a1', 'b1'])
  })

  it('sends BASIC credentials and bearer tokens', async () => {
    const { run, server } = await start(() => OK, {
      'auth.type': 'basic',
      'connection.user': 'ann',
      'connection.password': 'pä:ss',
    })
    await run.put(values('a'))
    expect(server.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ann:pä:ss').toString('base64')}`)
    const other = await start(() => OK, { 'auth.type': 'BEARER', 'bearer.token': 'tok' })
    await other.run.put(values('a'))
    expect(other.server.seen[0]?.headers.authorization).toBe('Bearer tok')
  })
})

describe('the configuration of HttpSink', () => {
  const problems = (config: Readonly<Record<string, string>>) =>
    validateConfig(httpSink.config, { 'http.api.url': 'http://h/', ...config }).flatMap(({ errors }) => errors)

  it.each<[Readonly<Record<string, string>>, string]>([
    [{ 'http.api.url': 'ftp://x' }, 'Invalid value ftp://x for configuration http.api.url: expected http://'],
    [{ 'auth.type': 'BASIC', 'connection.user': 'u' }, 'auth.type=BASIC requires connection.password'],
    [{ 'auth.type': 'OAUTH2' }, 'auth.type=OAUTH2 requires oauth2.token.url'],
    [{ headers: 'nonsense' }, 'Invalid value for configuration headers: a header must be NAME:VALUE'],
    [{ 'retry.on.status.codes': '5xx' }, "'5xx' is not a status or a range of statuses"],
    [
      { 'regex.patterns': 'a~b', 'regex.replacements': 'c' },
      'regex.patterns and regex.replacements must have the same number of entries',
    ],
    [{ 'http.proxy.host': 'p' }, 'http.proxy.host requires http.proxy.port'],
    [{ 'oauth2.jwt.enabled': 'true' }, 'oauth2.jwt.enabled=true is not supported: remove it, and set oauth2.client.id'],
  ])('rejects %o', (config, message) => {
    expect(problems(config)).toContainEqual(expect.stringContaining(message))
  })

  it('logs a warning for reporter.producer.* and reporter.admin.*, which have no effect', async () => {
    const warnings: (readonly [object, string | undefined])[] = []
    const log = (fields: object, message?: string) => void warnings.push([fields, message])
    const config = { 'http.api.url': 'http://h/', 'reporter.producer.acks': '1', 'reporter.result.topic.name': 'r' }
    const run = await runSink(httpSink, { config, log: { debug: log, info: log, warn: log, error: log } })
    await run.stop()
    expect(warnings).toEqual([
      [
        { keys: ['reporter.producer.acks'] },
        expect.stringMatching(/^these keys have no effect: reports are written by/),
      ],
    ])
  })

  it('accepts a valid configuration', () => {
    expect(problems({ headers: 'A:b|C: ${key}', 'retry.on.status.codes': '400-' })).toEqual([])
  })
})

async function start(react: Responder, config: Readonly<Record<string, string>> = {}, path = '/in') {
  const server = await startHttpServer(react)
  const run = await runSink(httpSink, { config: { 'http.api.url': `${server.url}${path}`, ...config } })
  onTestFinished(() => run.stop())
  return { server, run }
}

function values(...texts: readonly string[]): readonly HarnessRecord[] {
  return texts.map((value, offset) => ({ topic: 't', value, offset }))
}

/** A date so far ahead of a server whose clock differs so much from ours. */
function ahead(ms: number, skewMs: number): Readonly<Record<string, string>> {
  const serverMs = Math.floor(Date.now() / 1000) * 1000 + skewMs
  return { date: new Date(serverMs).toUTCString(), 'retry-after': new Date(serverMs + ms).toUTCString() }
}
