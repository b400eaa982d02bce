import { describe, expect, it, onTestFinished } from 'vitest'
import { httpSource } from '../../../src/plugins/connectors/http-source/http-source.ts'
import {
  advancePage,
  PageCycle,
  type PagePosition,
  pageUrl,
} from '../../../src/plugins/connectors/http-source/paging.ts'
import { runSource, type SourceRecord, validateConfig } from '../../../src/sdk/index.ts'
import { OK, type Reply, type Responder, repliesInOrder, startHttpServer } from '../../support/http-server.ts'

const ITEMS = Array.from({ length: 7 }, (_, n) => ({ id: n, at: `2026-01-0${n + 1}` }))

describe('HttpSource', () => {
  it('reads records, keys and timestamps at the configured pointers, and repeats them in each round', async () => {
    const text = '{"data":{"a/b":[{"id":"k","when":"2026-01-01T00:00:00Z","n":12345678901234567890}]}}'
    const { run, server } = await start(() => ({ status: 200, body: text }), {
      'records.pointer': '/data/a~1b',
      'key.pointer': '/id',
      'timestamp.pointer': '/when',
      'http.request.headers': 'X-Who: me',
    })
    const [first, again] = await run.take(2)
    expect(first).toMatchObject({
      topic: 'items',
      key: 'k',
      value: { n: 12345678901234567890n },
      timestampMs: Date.UTC(2026, 0, 1),
      sourcePartition: { url: `${server.url}/items?a=1` },
    })
    expect(again).toEqual(first)
    expect(server.seen[0]).toMatchObject({ method: 'GET', path: '/items?a=1', headers: { 'x-who': 'me' } })
  })

  it.each<[string, Readonly<Record<string, string>>, Responder, readonly string[]]>([
    [
      'the header Link',
      { paging: 'link' },
      ({ path }) => {
        const page = Number(/page=(\d)/.exec(path)?.[1] ?? 0)
        const next = page < 3 ? { link: `</x>; rel="prev", </items?page=${page + 1}>; rel="next"` } : undefined
        return { status: 200, body: json(ITEMS.slice(page * 2, page * 2 + 2)), ...(next && { headers: next }) }
      },
      ['/items?a=1', '/items?page=1', '/items?page=2', '/items?page=3'],
    ],
    [
      'a cursor',
      { paging: 'cursor', 'cursor.pointer': '/meta/next', 'records.pointer': '/items' },
      ({ path }) => {
        const from = Number(/cursor=c(\d)/.exec(path)?.[1] ?? 0)
        const next = from + 3 < ITEMS.length ? `c${from + 3}` : null
        return { status: 200, body: json({ items: ITEMS.slice(from, from + 3), meta: { next } }) }
      },
      ['/items?a=1', '/items?a=1&cursor=c3', '/items?a=1&cursor=c6'],
    ],
    [
      'a URL in the response',
      { paging: 'cursor', 'cursor.pointer': '/next', 'records.pointer': '/items' },
      ({ path }) => {
        const from = Number(/from=(\d)/.exec(path)?.[1] ?? 0)
        const next = from + 4 < ITEMS.length ? `/more?from=${from + 4}` : undefined
        return { status: 200, body: json({ items: ITEMS.slice(from, from + 4), next }) }
      },
      ['/items?a=1', '/more?from=4'],
    ],
    [
      'the number of records',
      { paging: 'offset' },
      byOffset(3),
      ['/items?a=1&offset=0', '/items?a=1&offset=3', '/items?a=1&offset=6', '/items?a=1&offset=7'],
    ],
    [
      'the page number',
      { paging: 'page' },
      byPage(3),
      ['/items?a=1&page=1', '/items?a=1&page=2', '/items?a=1&page=3', '/items?a=1&page=4'],
    ],
  ])('requests all pages by %s, and resumes after any record', async (_, config, react, paths) => {
    const { run, server } = await start(react, config)
    const all = await run.take(ITEMS.length)
    expect(all.map(({ value }) => value)).toEqual(ITEMS)
    for (let turn = 0; turn < 3 && server.seen.length < paths.length; turn++) await run.nextBatch()
    expect(server.seen.map(({ path }) => path).slice(0, paths.length)).toEqual(paths)
    for (const [index, record] of all.slice(0, -1).entries()) {
      const other = await start(react, config, record, server.url)
      const [next] = await other.run.take(1)
      expect(next?.value).toEqual(ITEMS[index + 1])
      await other.run.stop()
    }
  })

  it('continues after the last record when records are added to numbered pages', async () => {
    const items = ITEMS.slice(0, 4)
    for (const config of [{ paging: 'offset' }, { paging: 'page' }] as const) {
      const list = [...items]
      const { run } = await start(config.paging === 'offset' ? byOffset(3, list) : byPage(3, list), config)
      expect(await run.take(4)).toHaveLength(4)
      expect(await run.nextBatch()).toEqual([])
      list.push(...ITEMS.slice(4))
      expect((await run.take(3)).map(({ value }) => value)).toEqual(ITEMS.slice(4))
    }
  })

  it('requests the records since the highest value so far with since.parameter', async () => {
    const { run, server } = await start(
      ({ path }) => {
        const since = /since=([\d-]+)/.exec(path)?.[1] ?? ''
        return {
          status: 200,
          body: json(
            ITEMS.filter(({ at }) => at > since)
              .slice(0, 3)
              .reverse(),
          ),
        }
      },
      { 'since.parameter': 'since', 'since.pointer': '/at', 'since.initial': '2026-01-01' },
    )
    const records = await run.take(6)
    expect(records.map(({ value }) => (value as { id: number }).id)).toEqual([3, 2, 1, 6, 5, 4])
    expect(server.seen.map(({ path }) => path).slice(0, 2)).toEqual([
      '/items?a=1&since=2026-01-01',
      '/items?a=1&since=2026-01-04',
    ])
    expect(records.at(-1)?.sourceOffset).toMatchObject({ page: null, taken: 0, since: '2026-01-07' })
  })

  it('continues after cursors and values of since.parameter that are integers beyond 2^53', async () => {
    const ids = ['9007199254740993', '9007199254740995', '9007199254740997']
    const byId: Responder = ({ path }) => {
      const after = /(?:cursor|since)=(\d+)/.exec(path)?.[1] ?? '0'
      const [id] = ids.filter((one) => BigInt(one) > BigInt(after))
      return { status: 200, body: id === undefined ? '{"items":[]}' : `{"items":[{"id":${id}}],"next":${id}}` }
    }
    for (const config of [{ paging: 'cursor' }, { 'since.parameter': 'since', 'since.pointer': '/id' }]) {
      const all = { 'records.pointer': '/items', ...config }
      const { run, server } = await start(byId, all)
      const records = await run.take(ids.length)
      expect(records.map(({ value }) => value)).toEqual(ids.map((id) => ({ id: BigInt(id) })))
      const other = await start(byId, all, records[0], server.url)
      expect(await other.run.take(1)).toMatchObject([{ value: { id: BigInt(ids[1]!) } }])
    }
  })

  it.each<[string, Reply, object]>([
    ['429', { status: 429, headers: { 'retry-after': '3' } }, { code: 'retriable', retryAfterMs: 3000 }],
    [
      '503',
      { status: 503, body: 'busy' },
      { code: 'retriable', message: expect.stringMatching(/responded with 503: busy$/) },
    ],
    [
      'a closed connection',
      'cut',
      { code: 'retriable', message: expect.stringMatching(/the server closed the connection/) },
    ],
    [
      'an incomplete response',
      'half',
      { code: 'retriable', message: expect.stringMatching(/the server closed the connection/) },
    ],
    [
      'a response that is not received in time',
      'slow',
      { code: 'retriable', message: expect.stringMatching(/no complete response within 200 ms/) },
    ],
    [
      '401',
      { status: 401 },
      { message: expect.stringMatching(/responded with 401: authentication failed: check auth\.type/) },
    ],
    [
      '404',
      { status: 404, body: 'no such' },
      { message: expect.stringMatching(/404: no such: check url and its parameters$/) },
    ],
    [
      'a response that is not JSON',
      { status: 200, body: '<html>' },
      { message: expect.stringMatching(/the response is not JSON: <html>$/) },
    ],
    [
      'a response without an array of records',
      { status: 200, body: '"x"' },
      { message: expect.stringMatching(/has no array at '\/' \(records\.pointer\)/) },
    ],
    [
      'a response that is too large',
      { status: 200, body: json('x'.repeat(2000)) },
      {
        message: expect.stringMatching(/more than 1000 bytes: request smaller pages or increase response\.max\.bytes$/),
      },
    ],
  ])('reports the cause of the failure: %s', async (_, reply, error) => {
    const { run } = await start(() => reply, { 'response.max.bytes': '1000', 'http.request.timeout.ms': '200' })
    await expect(run.nextBatch()).rejects.toMatchObject(error)
  })

  it('reads null as an empty list of records', async () => {
    const { run } = await start(
      repliesInOrder({ status: 200, body: '{"items":null}' }, { status: 200, body: '{"items":[1]}' }),
      {
        'records.pointer': '/items',
      },
    )
    expect(await run.take(1)).toMatchObject([{ value: 1 }])
  })

  it('does not follow links to another server', async () => {
    const link = { link: '<http://elsewhere.example/items>; rel=next' }
    const { run } = await start(() => ({ status: 200, body: '[1]', headers: link }), { paging: 'link' })
    await expect(run.nextBatch()).rejects.toThrow(
      /links to http:\/\/elsewhere\.example: links to another server are not followed/,
    )
  })

  it('ends the poll when a page links to itself', async () => {
    const { run, server } = await start(() => ({ status: 200, body: '{"items":[],"next":"same"}' }), {
      paging: 'cursor',
      'records.pointer': '/items',
    })
    for (let turn = 0; turn < 3; turn++) expect(await run.nextBatch()).toEqual([])
    expect(server.seen).toHaveLength(3)
  })

  it.each([
    ['when the last one links to the first one', 3, ['/items', '/2', '/3']],
    ['when they link to an earlier one', 2, ['/items', '/2', '/3']],
  ])('ends the poll after all pages %s', (_case, returnsTo, pages) => {
    const options = { url: 'http://a/items', paging: { by: 'link' }, since: undefined } as const
    const nextOf = (url: string) =>
      url.endsWith('/3') ? (returnsTo === 3 ? '/items' : '/2') : url.endsWith('/2') ? '/3' : '/2'
    const seen: string[] = []
    let position: PagePosition = { page: null, taken: 0, since: null, high: null }
    const cycle = new PageCycle(pageUrl(options, position))
    for (let isOver = false; !isOver; ) {
      const url = pageUrl(options, position)
      seen.push(new URL(url).pathname)
      const response = { body: [], link: `<${nextOf(url)}>; rel=next`, records: [], cycle }
      const advanced = advancePage(options, position, undefined, response)
      position = advanced.after
      isOver = advanced.isOver
    }
    expect(seen).toEqual(pages)
    expect(position.page).toBeNull()
  })

  it.each([
    ['page', 'page=2'],
    ['offset', 'offset=2'],
  ])('fails if the server ignores the parameter of paging=%s', async (paging, parameter) => {
    const { run } = await start(() => ({ status: 200, body: '[{"id":1},{"id":2}]' }), { paging })
    expect(await run.nextBatch()).toHaveLength(2)
    await expect(run.nextBatch()).rejects.toThrow(
      `with ${parameter}, the server returned the same 2 records as for the page before: it ignores this parameter`,
    )
  })

  it('finds each cycle of pages within a few of its turns', () => {
    for (const length of [1, 2, 7, 100]) {
      const cycle = new PageCycle('first')
      let requests = 0
      while (!cycle.isRepeated(`page ${requests < 30 ? -requests : requests % length}`)) requests += 1
      expect(requests).toBeLessThan(4 * (30 + length))
    }
  })

  it('compares values of since.parameter that are decimal numbers in strings as numbers', async () => {
    const ids = ['9', '10', '99', '100', '100.5', '0100.25']
    const { run, server } = await start(
      ({ path }) => ({ status: 200, body: json(path.includes('since=') ? [] : ids.map((id) => ({ id }))) }),
      { 'since.parameter': 'since', 'since.pointer': '/id' },
    )
    await run.take(ids.length)
    await run.nextBatch()
    expect(server.seen.at(-1)!.path).toBe('/items?a=1&since=100.5')
  })
})

describe('the configuration of HttpSource', () => {
  it.each<[Readonly<Record<string, string>>, string]>([
    [
      { 'key.pointer': 'id' },
      "Invalid value id for configuration key.pointer: 'id' is not a JSON pointer: expected a form such as /a/b",
    ],
    [{ 'auth.type': 'bearer' }, 'auth.type=BEARER requires bearer.token'],
    [
      { 'http.request.headers': 'x' },
      'Invalid value for configuration http.request.headers: a header must be NAME:VALUE',
    ],
  ])('rejects %o', (written, message) => {
    const raw = { topic: 't', url: 'http://h/', ...written }
    const errors = validateConfig(httpSource.config, raw).flatMap((value) => value.errors)
    expect(errors).toEqual([expect.stringContaining(message)])
  })

  it('reads records without key and timestamp if the pointers are not set', async () => {
    const { run } = await start(repliesInOrder({ status: 200, body: '{"id":1}' }, OK))
    expect(await run.take(1)).toMatchObject([{ key: null, timestampMs: null, value: { id: 1 } }])
  })
})

function json(value: unknown): string {
  return JSON.stringify(value)
}

function byOffset(size: number, list: readonly unknown[] = ITEMS): Responder {
  return ({ path }) => {
    const from = Number(/offset=(\d+)/.exec(path)?.[1])
    return { status: 200, body: json(list.slice(from, from + size)) }
  }
}

function byPage(size: number, list: readonly unknown[] = ITEMS): Responder {
  return ({ path }) => {
    const from = (Number(/page=(\d+)/.exec(path)?.[1]) - 1) * size
    return { status: 200, body: json(list.slice(from, from + size)) }
  }
}

async function start(
  react: Responder,
  config: Readonly<Record<string, string>> = {},
  from?: SourceRecord,
  url?: string,
) {
  const server = await startHttpServer(react)
  const run = runSource(httpSource, {
    config: { topic: 'items', url: `${url ?? server.url}/items?a=1`, 'poll.interval.ms': '1', ...config },
    offsets: from ? [{ partition: from.sourcePartition, offset: from.sourceOffset }] : [],
  })
  onTestFinished(() => run.stop())
  return { server, run }
}
