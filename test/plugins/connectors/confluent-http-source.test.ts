import { describe, expect, it, onTestFinished } from 'vitest'
import { confluentHttpSource } from '../../../src/plugins/connectors/http-source/confluent.ts'
import { type RawConfig, runSource, validateConfig } from '../../../src/sdk/index.ts'
import { type Responder, startHttpServer } from '../../support/http-server.ts'

const ITEMS = Array.from({ length: 7 }, (_, id) => ({ id, meta: { at: `2026-01-0${id + 1}` } }))

describe('ConfluentHttpSource', () => {
  it.each<[string, RawConfig, Responder, readonly string[]]>([
    [
      'SIMPLE_INCREMENTING',
      { 'http.request.parameters': 'limit=3&from=${offset}', 'http.initial.offset': '1' },
      ({ path }) => {
        const from = Number(/from=(\d+)/.exec(path)?.[1])
        return { status: 200, body: JSON.stringify({ data: { items: ITEMS.slice(from, from + 3) } }) }
      },
      ['/items?limit=3&from=1', '/items?limit=3&from=4', '/items?limit=3&from=7'],
    ],
    [
      'CHAINING',
      {
        'http.request.parameters': 'since=${offset}|limit=3',
        'http.request.parameters.separator': '|',
        'http.offset.json.pointer': '/meta/at',
        'http.initial.offset': '2026-01-01',
      },
      ({ path }) => {
        const since = /since=([\d-]+)/.exec(path)?.[1] ?? ''
        const items = ITEMS.filter(({ meta }) => meta.at > since).slice(0, 3)
        return { status: 200, body: JSON.stringify({ data: { items } }) }
      },
      ['/items?limit=3&since=2026-01-01', '/items?limit=3&since=2026-01-04', '/items?limit=3&since=2026-01-07'],
    ],
    [
      'CURSOR_PAGINATION',
      { 'http.request.parameters': 'cursor=${offset}', 'http.next.page.json.pointer': '/next' },
      ({ path }) => {
        const from = Number(/cursor=c(\d)/.exec(path)?.[1] ?? 1)
        const next = from + 4 < ITEMS.length ? `c${from + 4}` : null
        return { status: 200, body: JSON.stringify({ next, data: { items: ITEMS.slice(from, from + 4) } }) }
      },
      ['/items', '/items?cursor=c5'],
    ],
  ])('requests the next page in mode %s', async (mode, own, react, paths) => {
    const server = await startHttpServer(react)
    const run = runSource(confluentHttpSource, {
      config: {
        url: `${server.url}/items`,
        'topic.name.pattern': 'items',
        'http.offset.mode': mode,
        'http.response.data.json.pointer': '/data/items',
        'http.request.headers': 'X-A: 1;X-B: 2',
        'http.request.headers.separator': ';',
        'auth.type': 'BASIC',
        'connection.user': 'ann',
        'connection.password': 'p',
        'request.interval.ms': '1',
        ...own,
      },
    })
    onTestFinished(() => run.stop())
    const records = await run.take(6)
    expect(records.map(({ value }) => value)).toEqual(ITEMS.slice(1))
    expect(records[0]).toMatchObject({ topic: 'items' })
    for (let turn = 0; server.seen.length < paths.length && turn < 3; turn++) await run.nextBatch()
    expect(server.seen.map(({ path }) => path).slice(0, paths.length)).toEqual(paths)
    expect(server.seen[0]?.headers).toMatchObject({
      'x-a': '1',
      'x-b': '2',
      authorization: `Basic ${btoa('ann:p')}`,
    })
  })

  it.each<[RawConfig, string, string]>([
    [{ 'http.offset.mode': 'SNAPSHOT_PAGINATION' }, 'http.offset.mode', 'SNAPSHOT_PAGINATION is not supported'],
    [{ 'entity.names': 'a,b' }, 'entity.names', 'create a connector for each'],
    [{ 'http.request.method': 'POST' }, 'http.request.method', 'String must be one of: GET'],
    [{ url: 'http://h/${offset}' }, 'http.request.parameters', 'as the complete value of a parameter: NAME=${offset}'],
    [
      { 'http.request.parameters': 'q=a${offset}' },
      'http.request.parameters',
      'as the complete value of a parameter: NAME=${offset}',
    ],
    [{ 'http.offset.mode': 'CHAINING' }, 'http.offset.json.pointer', 'CHAINING requires http.offset.json.pointer'],
    [
      { 'http.offset.mode': 'cursor_pagination' },
      'http.next.page.json.pointer',
      'requires http.next.page.json.pointer',
    ],
    [
      { 'http.response.data.json.pointer': 'data' },
      'http.response.data.json.pointer',
      "Invalid value data for configuration http.response.data.json.pointer: 'data' is not a JSON pointer",
    ],
    [
      { 'http.request.parameters': 'a=${offset}', 'http.initial.offset': 'x' },
      'http.initial.offset',
      'Invalid value x for configuration http.initial.offset: Not a number',
    ],
    [{ 'auth.type': 'BEARER' }, 'bearer.token', 'auth.type=BEARER requires bearer.token'],
    [
      { 'http.offset.mode': 'CURSOR_PAGINATION', 'http.next.page.json.pointer': '/n', 'http.initial.offset': 'c1' },
      'http.initial.offset',
      'add the first cursor to url',
    ],
  ])('reports the invalid configuration %o for the right key', (written, key, message) => {
    const raw = { url: 'http://h/', 'topic.name.pattern': 't', ...written }
    const wrong = validateConfig(confluentHttpSource.config, raw).filter(({ errors }) => errors.length > 0)
    expect(wrong).toEqual([expect.objectContaining({ name: key, errors: [expect.stringContaining(message)] })])
  })

  it('rejects altered offsets that it cannot resume from', async () => {
    const config = { url: 'http://h/', 'topic.name.pattern': 't' }
    const parsed = confluentHttpSource.config.parse(config)
    const alter = (offset: Readonly<Record<string, string | number>>) =>
      confluentHttpSource.alterOffsets?.(parsed, [{ partition: { url: 'http://h/' }, offset }])
    expect(alter({ page: 3, taken: 1 })).toBeUndefined()
    expect(() => alter({ taken: -1 })).toThrow("with an integer 'taken'")
  })
})
