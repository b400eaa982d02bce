import { createHmac } from 'node:crypto'
import { getEventListeners } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { NO_AUTHENTICATION } from '../../../src/plugins/connectors/webhook/authenticator.ts'
import { Receiver, type ReceiverOptions } from '../../../src/plugins/connectors/webhook/request-receiver.ts'
import { webhookSource } from '../../../src/plugins/connectors/webhook/webhook-source.ts'
import {
  runSource,
  type SourceRecord,
  type SourceRun,
  STRING,
  type TaskLog,
  validateConfig,
} from '../../../src/sdk/index.ts'

describe('WebhookSource', () => {
  it('responds only after the record is stored', async () => {
    const { run, send } = await start({ 'record.headers': 'X-Kind, X-None' })
    let status = 0
    const sent = send('hello', { 'idempotency-key': 'k1', 'x-kind': 'greeting' }).then((answer) => {
      status = answer.status
    })
    const [record] = await run.take(1)
    expect(record).toMatchObject({
      topic: 'events',
      key: 'k1',
      keySchema: STRING,
      value: 'hello',
      valueSchema: STRING,
      headers: [{ key: 'X-Kind', value: 'greeting' }],
      sourcePartition: { path: '/in' },
      sourceOffset: { requests: 1 },
    })
    expect(status).toBe(0)
    run.stored([record!])
    await sent
    expect(status).toBe(204)
  })

  it('reads JSON, and responds with 400 to invalid JSON', async () => {
    const { run, send } = await start({ 'value.format': 'json' })
    const good = send('{"n":[1]}')
    const [record] = await run.take(1)
    expect(record).toMatchObject({ value: { n: [1] }, valueSchema: null, key: null })
    run.stored([record!])
    expect((await good).status).toBe(204)
    const bad = await send('{"n":')
    expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('JSON')])
  })

  it('reads integers of 64 bits exactly', async () => {
    const { run, send } = await start({ 'value.format': 'json' })
    const sent = send('{"id":9007199254740993}')
    const [record] = await run.take(1)
    expect(record!.value).toEqual({ id: 9007199254740993n })
    run.stored([record!])
    await sent
  })

  it('responds with 400 to JSON that is nested too deep for a converter', async () => {
    const { run, send } = await start({ 'value.format': 'json' })
    const nested = (depth: number) => `${'['.repeat(depth)}"]]{\\"["${']'.repeat(depth)}`
    const deepest = send(nested(1_000))
    run.stored(await run.take(1))
    expect((await deepest).status).toBe(204)
    for (const depth of [1_001, 100_000]) {
      const answer = await send(nested(depth))
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('1000 levels')])
    }
  })

  it.each<
    [string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, Readonly<Record<string, string>>]
  >([
    [
      'BASIC',
      { 'connection.user': 'ann', 'connection.password': 'pass' },
      { authorization: `Basic ${btoa('ann:pass')}` },
      { authorization: `Basic ${btoa('ann:past')}` },
    ],
    ['BEARER', { 'bearer.token': 'tok' }, { authorization: 'Bearer tok' }, { authorization: 'Bearer to' }],
    [
      'HMAC',
      { 'signature.secret': 'deep' },
      { 'x-hub-signature-256': `sha256=${createHmac('sha256', 'deep').update('body').digest('hex')}` },
      { 'x-hub-signature-256': `sha256=${createHmac('sha256', 'deep').update('other').digest('hex')}` },
    ],
  ])('accepts only requests with valid credentials for auth.type=%s', async (type, keys, right, wrong) => {
    const { run, send } = await start({ 'auth.type': type, ...keys })
    expect((await send('body')).status).toBe(401)
    expect((await send('body', wrong)).status).toBe(401)
    const sent = send('body', right)
    run.stored(await run.take(1))
    expect((await sent).status).toBe(204)
  })

  it('responds with 503 and Retry-After beyond pending.max.requests', async () => {
    const { run, send } = await start({ 'pending.max.requests': '2' })
    const pending = [send('a'), send('b')]
    const records = await run.take(2)
    const rejected = await send('c')
    expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1'])
    run.stored(records)
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([204, 204])
    const next = send('d')
    run.stored(await run.take(1))
    expect((await next).status).toBe(204)
  })

  it('responds with 503 beyond pending.max.bytes', async () => {
    const { run, send } = await start({ 'pending.max.bytes': '10' })
    const pending = send('12345678')
    const records = await run.take(1)
    expect((await send('123')).status).toBe(503)
    run.stored(records)
    expect((await pending).status).toBe(204)
  })

  it('responds with 503 if the record is not stored in time', async () => {
    // On a busy machine, a shorter time can end before the record is taken.
    const { run, send } = await start({ 'answer.timeout.ms': '300' })
    const sent = send('a')
    await run.take(1)
    expect((await sent).status).toBe(503)
  })

  it.each([
    [413, 'POST', '/in', 'x'.repeat(21)],
    [404, 'POST', '/other', 'x'],
    [405, 'PATCH', '/in', 'x'],
  ])('responds with %i to %s %s', async (status, method, path, body) => {
    const { url } = await start({ 'body.max.bytes': '20' })
    expect((await fetch(`${url}${path}`, { method, body })).status).toBe(status)
  })

  it('responds to pending requests when it stops: with success if the record is stored, otherwise with 503', async () => {
    const { signal } = new AbortController()
    const receiver = await Receiver.open(RECEIVER_OPTIONS)
    const send = (body: string) => fetch(`http://127.0.0.1:${receiver.port}/`, { method: 'POST', body })
    const taken = send('taken')
    const [request] = await receiver.take(1, 10_000, signal)
    const late = send('late')
    // It is there; nobody takes it.
    expect(await receiver.take(0, 10_000, signal)).toEqual([])
    const closing = receiver[Symbol.asyncDispose]()
    expect((await late).status).toBe(503)
    request!.respond(204)
    expect((await taken).status).toBe(204)
    await closing
  })

  it.each([
    ['within its headers', 'POST / HTTP/1.1\r\nhost: x'],
    ['within its body', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf'],
  ])('is closed at once while it receives a request %s', async (_, part) => {
    const receiver = await Receiver.open(RECEIVER_OPTIONS)
    const slow = connect(receiver.port, '127.0.0.1').on('error', () => undefined)
    slow.write(part)
    // Until the server has read it.
    await fetch(`http://127.0.0.1:${receiver.port}/other`, { method: 'POST' })
    // The time limit of closing never passes.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    await receiver[Symbol.asyncDispose]()
  })

  it("removes its listener from the task's abort signal after each wait", async () => {
    const stopping = new AbortController()
    await using receiver = await Receiver.open(RECEIVER_OPTIONS)
    for (let turn = 0; turn < 3; turn++) expect(await receiver.take(1, 1, stopping.signal)).toEqual([])
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([])
    const pending = receiver.take(1, 60_000, stopping.signal)
    stopping.abort()
    expect(await pending).toEqual([])
  })

  it('releases the memory and the slot of a request that is aborted within its body', async () => {
    const { run, url, send } = await start({ 'pending.max.requests': '1', 'pending.max.bytes': '8' })
    const halves = connect(Number(new URL(url).port), '127.0.0.1')
    halves.write('POST /in HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf')
    await expect.poll(async () => (await send('other')).status).toBe(503)
    halves.destroy()
    let status = 503
    const taken = run.take(1)
    while (status === 503) {
      const sent = send('whole')
      const answer = await Promise.race([sent, taken])
      if (Array.isArray(answer)) run.stored(answer as readonly SourceRecord[])
      status = (await sent).status
    }
    expect(status).toBe(204)
    expect(await taken).toMatchObject([{ value: 'whole' }])
  })

  it('responds with 408 to a request that is not complete in time', async () => {
    const { url } = await start({ 'answer.timeout.ms': '50' })
    const slow = connect(Number(new URL(url).port), '127.0.0.1')
    slow.write('POST /in HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf')
    expect(await text(slow)).toMatch(/^HTTP\/1\.1 408 /)
  })

  it.each<[Readonly<Record<string, string>>, RegExp]>([
    [{ listener: 'http://192.0.2.1:0' }, /^cannot listen at http:\/\/192\.0\.2\.1:0: .*EADDRNOTAVAIL/],
    [
      { listener: 'https://127.0.0.1:0', 'https.ssl.keystore.location': '/nowhere/key.pem' },
      /ssl\.keystore\.location.*\/nowhere\/key\.pem/,
    ],
  ])('reports why it cannot listen with %o', async (written, message) => {
    const run = runSource(webhookSource, { config: { topic: 'events', ...written } })
    await expect(run.nextBatch()).rejects.toThrow(message)
  })

  it('retries while the port is in use, with the port in the error', async () => {
    const { url } = await start()
    const second = runSource(webhookSource, { config: { topic: 'events', listener: url } })
    await expect(second.nextBatch()).rejects.toMatchObject({
      code: 'retriable',
      message: `${url} is in use by another program or task: choose another port`,
    })
  })
})

describe('the configuration of WebhookSource', () => {
  it.each<[Readonly<Record<string, string>>, string]>([
    [{ listener: 'http://x' }, 'expected http://host:port or https://host:port'],
    [{ listener: 'https://h:1' }, 'an https listener requires https.ssl.keystore.location'],
    [{ 'auth.type': 'hmac' }, 'auth.type=HMAC requires signature.secret'],
    [{ path: 'in' }, 'expected a path such as /events'],
  ])('rejects %o', (written, message) => {
    const errors = validateConfig(webhookSource.config, { topic: 't', ...written }).flatMap((value) => value.errors)
    expect(errors).toEqual([expect.stringContaining(message)])
  })
})

const RECEIVER_OPTIONS: ReceiverOptions = {
  host: '127.0.0.1',
  port: 0,
  tls: undefined,
  path: '/',
  authenticator: NO_AUTHENTICATION,
  bodyBytesMax: 100,
  pendingBytesMax: 100,
  pendingMax: 10,
  responseTimeoutMs: 60_000,
  check: () => {},
}

async function start(config: Readonly<Record<string, string>> = {}) {
  let port = 0
  const note = (fields: object) => {
    port = (fields as { port?: number }).port ?? port
  }
  const log: TaskLog = { debug: note, info: note, warn: note, error: note }
  const run: SourceRun = runSource(webhookSource, {
    config: { topic: 'events', listener: 'http://127.0.0.1:0', path: '/in', ...config },
    log,
  })
  onTestFinished(() => run.stop())
  expect(await run.nextBatch()).toEqual([])
  const url = `http://127.0.0.1:${port}`
  return {
    run,
    url,
    send: (body: string, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${url}/in`, { method: 'POST', body, headers }),
  }
}
