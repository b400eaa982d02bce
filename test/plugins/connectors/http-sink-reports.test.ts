import { describe, expect, it, onTestFinished } from 'vitest'
import { httpSink } from '../../../src/plugins/connectors/http-sink/confluent.ts'
import { defineSink, type HarnessRecord, type ReportRecord, RetriableError, runSink } from '../../../src/sdk/index.ts'
import { OK, type Responder, repliesInOrder, startHttpServer } from '../../support/http-server.ts'

describe('the reports of the HTTP sink', () => {
  const REPORTS = { 'reporter.bootstrap.servers': 'ignored:9092' }
  const texts = (run: { readonly reported: readonly ReportRecord[] }) =>
    run.reported.map(({ key, value }) => [String(key), String(value)])

  it('have the key of the record, the response, and headers with the position of the record', async () => {
    const { run } = await start(() => ({ status: 200, body: '{"id":1}' }), REPORTS)
    await run.put([{ topic: 't', key: 'k', value: 'v', timestampMs: 5, partition: 2, offset: 7 }])
    expect(run.reported).toEqual([
      {
        topic: 'success-responses',
        key: Buffer.from('"k"'),
        value: Buffer.from('{"id":1}'),
        headers: [
          ['input_record_topic', Buffer.from('t')],
          ['input_record_partition', Buffer.from('2')],
          ['input_record_offset', Buffer.from('7')],
          ['input_record_timestamp', Buffer.from('5')],
        ],
      },
    ])
  })

  it('exist for each record of a batch, in the formats of the configuration', async () => {
    const { run } = await start(() => ({ status: 200, body: 'done' }), {
      ...REPORTS,
      'batch.max.size': '2',
      'reporter.result.topic.key.format': 'string',
      'reporter.result.topic.value.format': 'json',
    })
    await run.put([
      { topic: 't', key: 'a', value: '1' },
      { topic: 't', key: 'b', value: '2' },
    ])
    expect(texts(run)).toEqual([
      ['a', '"done"'],
      ['b', '"done"'],
    ])
  })

  it.each([
    ['error_string', /the server rejected the request with 422: no such user/],
    ['http_response', /^no such user$/],
  ] as const)('describe a rejected record as %s', async (format, text) => {
    const { run } = await start(() => ({ status: 422, body: 'no such user' }), {
      ...REPORTS,
      'report.errors.as': format,
      'reporter.error.topic.name': 'failed',
      'reporter.error.topic.value.format': 'string',
    })
    await run.put(values('v'))
    expect(run.rejected).toHaveLength(1)
    expect(run.reported.map(({ topic, value }) => [topic, String(value)])).toEqual([
      ['failed', expect.stringMatching(text)],
    ])
  })

  it('are written only once if other records of the batch are retried', async () => {
    const { run } = await start(repliesInOrder(OK, { status: 503 }, OK), { ...REPORTS, 'retry.backoff.ms': '1' })
    await expect(run.put(values('a', 'b'))).rejects.toThrow(/503/)
    expect(run.reported).toHaveLength(1)
  })

  it('are not written if no reporter key is set or the topic name is empty', async () => {
    const silent = await start(() => OK)
    await silent.run.put(values('a'))
    const unnamed = await start(() => OK, { ...REPORTS, 'reporter.result.topic.name': '' })
    await unnamed.run.put(values('a'))
    expect([...silent.run.reported, ...unnamed.run.reported]).toEqual([])
  })

  it('fail the task if they cannot be stored, because a retry would skip the delivered records', async () => {
    const server = await startHttpServer(() => OK)
    const report = () => Promise.reject(new RetriableError('the topic is unavailable'))
    const sink = defineSink({ ...httpSink, start: (context) => httpSink.start({ ...context, report }) })
    const run = await runSink(sink, { config: { 'http.api.url': server.url, ...REPORTS } })
    onTestFinished(() => run.stop())
    const failure = await run.put(values('a')).catch((error: unknown) => error)
    expect(failure).toMatchObject({ message: 'a report could not be stored: the topic is unavailable' })
    expect(failure).not.toBeInstanceOf(RetriableError)
  })
})

async function start(react: Responder, config: Readonly<Record<string, string>> = {}) {
  const server = await startHttpServer(react)
  const run = await runSink(httpSink, { config: { 'http.api.url': server.url, ...config } })
  onTestFinished(() => run.stop())
  return { server, run }
}

function values(...texts: readonly string[]): readonly HarnessRecord[] {
  return texts.map((value, offset) => ({ topic: 't', value, offset }))
}
