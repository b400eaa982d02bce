import { describe, expect, it } from 'vitest'
import { startHttpServer } from '../../../support/http-server.ts'
import {
  orderRecord as document,
  type ReceivedOperation,
  startElasticsearchSink as start,
  startSearchServer,
  runElasticsearchSink as startWith,
} from '../../../support/search-server.ts'

describe('bulk requests', () => {
  it('sends only the documents again that the server did not accept, and older ones never win', async () => {
    let isBusy = true
    const { run, server } = await start(
      {},
      {
        indices: ['orders'],
        fail: ({ _id, version }) =>
          isBusy && (_id === 'b' || version === 0)
            ? { status: 429, type: 'es_rejected_execution_exception' }
            : undefined,
      },
    )
    const records = [document('a', { n: 0 }, 0), document('b', { n: 1 }, 1), document('a', { n: 2 }, 2)]
    await expect(run.put(records)).rejects.toMatchObject({
      code: 'retriable',
      message: expect.stringContaining('2 of 3 documents were not accepted: es_rejected_execution_exception'),
    })
    isBusy = false
    await run.put(records)
    expect(server.bulks[1]?.map(({ _id }) => _id)).toEqual(['a', 'b'])
    expect(server.documents()).toEqual({ 'orders/a': { n: 2 }, 'orders/b': { n: 1 } })
  })

  it.each([429, 500, 503])('retries a request with status %i, and after max.retries the task fails', async (status) => {
    const { run } = await start(
      { 'max.retries': '1', 'retry.backoff.ms': '10' },
      {
        indices: ['orders'],
        intercept: ({ path }) => (path.startsWith('/_bulk') ? { status, headers: { 'retry-after': '7' } } : undefined),
      },
    )
    await expect(run.put([document('a', {})])).rejects.toMatchObject({ code: 'retriable', retryAfterMs: 7000 })
    await expect(run.put([document('a', {})])).rejects.toThrow(
      /POST \/_bulk: the server responded with \d+; gave up after 1 retries \(max.retries\). No record is lost/,
    )
  })

  it.each([
    [401, 'check connection.username and connection.password'],
    [403, 'grant the user the privilege'],
    [302, 'redirects are not followed'],
  ])('fails the task for status %i with the remedy', async (status, remedy) => {
    for (const path of ['/_bulk', '/orders']) {
      const intercept = (request: { readonly path: string }) => (request.path.startsWith(path) ? { status } : undefined)
      const { run } = await start({}, { indices: ['orders'], intercept })
      await expect(run.put([document('a', {})])).rejects.toThrow(remedy)
    }
  })

  it('rejects only the documents that the server rejects, by behavior.on.malformed.documents', async () => {
    const fail = ({ source }: ReceivedOperation) =>
      (source as { bad?: boolean } | undefined)?.bad
        ? { status: 400, type: 'document_parsing_exception', reason: 'failed to parse field [n]' }
        : undefined
    const records = [document('a', { n: 1 }), document('b', { bad: true }), document('c', { n: 1 })]
    const failing = await start({}, { indices: ['orders'], fail })
    await failing.run.put(records)
    expect(failing.run.rejected.map(({ record, error }) => [record.key, error.message])).toEqual([
      ['b', 'the server rejected the document for orders: document_parsing_exception: failed to parse field [n]'],
    ])
    for (const behavior of ['ignore', 'warn']) {
      const ignoring = await start({ 'behavior.on.malformed.documents': behavior }, { indices: ['orders'], fail })
      await ignoring.run.put(records)
      expect(ignoring.run.rejected).toEqual([])
      expect(Object.keys(ignoring.server.documents())).toEqual(['orders/a', 'orders/c'])
    }
  })

  it.each([400, 413])('halves a request that is rejected with %i until the document is found', async (status) => {
    const intercept = ({ path, body }: { readonly path: string; readonly body: string }) =>
      path.startsWith('/_bulk') && body.includes('"huge"') ? { status, body: 'too much' } : undefined
    const { run, server } = await start({}, { indices: ['orders'], intercept })
    await run.put([document('a', {}), document('b', {}), document('huge', {}), document('c', {})])
    expect(Object.keys(server.documents()).toSorted()).toEqual(['orders/a', 'orders/b', 'orders/c'])
    expect(run.rejected.map(({ record }) => record.key)).toEqual(['huge'])
  })

  it('creates an index again that was deleted meanwhile', async () => {
    const { run, server } = await start()
    await run.put([document('a', { n: 1 }, 0)])
    server.mappings.delete('orders')
    await expect(run.put([document('b', { n: 1 }, 1)])).rejects.toMatchObject({ code: 'retriable' })
    await run.put([document('b', { n: 1 }, 1)])
    expect(server.created.map(({ path }) => path)).toEqual(['/orders'])
    expect(server.documents()).toHaveProperty(['orders/b'])
  })

  it('waits for a cluster block and for unavailable shards, which are not errors of a document', async () => {
    for (const failure of [
      { status: 403, type: 'cluster_block_exception' },
      { status: 503, type: 'unavailable_shards_exception' },
    ]) {
      const { run } = await start({}, { indices: ['orders'], fail: () => failure })
      await expect(run.put([document('a', {})])).rejects.toMatchObject({ code: 'retriable' })
    }
    const { run } = await start({}, { indices: ['orders'], fail: () => ({ status: 403, type: 'security_exception' }) })
    await expect(run.put([document('a', {})])).rejects.toThrow('grant the user the privilege')
  })

  it('retries when a response is incomplete or does not have a result for each document', async () => {
    for (const reply of [
      'half',
      'cut',
      { status: 200, body: '{"items":[]}' },
      { status: 200, body: '<html>' },
    ] as const) {
      const intercept = ({ path }: { readonly path: string }) => (path.startsWith('/_bulk') ? reply : undefined)
      const { run } = await start({}, { indices: ['orders'], intercept })
      await expect(run.put([document('a', {})])).rejects.toMatchObject({ code: 'retriable' })
    }
  })

  it('uses the next URL while a node does not respond, and keeps it', async () => {
    const dead = await startHttpServer(() => 'cut')
    const server = await startSearchServer({ indices: ['orders'] })
    const { run } = await startWith(`${dead.url},${server.url}/`)
    await run.put([document('a', {}, 0)])
    const { length } = dead.seen
    await run.put([document('b', {}, 1)])
    expect(Object.keys(server.documents())).toEqual(['orders/a', 'orders/b'])
    expect(dead.seen).toHaveLength(length)
  })

  it('authenticates, and compresses requests with connection.compression', async () => {
    const login = { 'connection.username': 'u', 'connection.password': 'p' }
    const { run, server } = await start(login)
    await run.put([document('a', {})])
    expect(new Set(server.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Basic dTpw']))
    const compressed = await startHttpServer(() => ({ status: 200, body: '{"items":[{"index":{"status":201}}]}' }))
    const gzip = await startWith(compressed.url, { 'connection.compression': 'true' })
    await gzip.run.put([document('a', { n: 1 })])
    expect(compressed.seen.at(-1)?.headers['content-encoding']).toBe('gzip')
    expect(compressed.seen.at(-1)?.body).not.toContain('"n":1')
  })
})
