import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChunkWindow } from '../../../../../src/plugins/connectors/cdc/signals/chunk-window.ts'
import {
  type IncrementalState,
  parseIncrementalState,
  printIncrementalState,
} from '../../../../../src/plugins/connectors/cdc/signals/incremental-state.ts'
import { parseSignal } from '../../../../../src/plugins/connectors/cdc/signals/signal.ts'
import { parseTablePattern } from '../../../../../src/plugins/connectors/cdc/signals/table-pattern.ts'
import { type Row, UNSENT } from '../../../../../src/plugins/connectors/cdc/table.ts'
import type { DatabaseChange, Table } from '../../../../../src/plugins/connectors/postgres/cdc/changes/change.ts'

const parse = (type: string, data: unknown) =>
  parseSignal({ id: 'a', type, data: typeof data === 'string' || data === null ? data : JSON.stringify(data) })

describe('parseSignal', () => {
  it('parses the signals of Debezium', () => {
    expect(parse('log', { message: 'at {}' })).toEqual({ kind: 'log', message: 'at {}' })
    expect(parse('execute-snapshot', { 'data-collections': ['public.a', 'public.b.*'], type: 'INCREMENTAL' })).toEqual({
      kind: 'execute',
      id: 'a',
      isBlocking: false,
      tables: ['public.a', 'public.b.*'],
      conditions: [],
      surrogateKey: undefined,
    })
    expect(
      parse('execute-snapshot', {
        'data-collections': ['public.a'],
        type: 'blocking',
        'additional-conditions': [{ 'data-collection': 'public.a', filter: ' SELECT 1 ' }],
        'surrogate-key': 'number',
      }),
    ).toMatchObject({
      isBlocking: true,
      conditions: [{ tables: 'public.a', filter: 'SELECT 1' }],
      surrogateKey: 'number',
    })
    expect(
      parse('execute-snapshot', { 'data-collections': ['public.a'], 'additional-condition': 'x > 1' }),
    ).toMatchObject({
      conditions: [{ tables: 'public.a', filter: 'x > 1' }],
    })
    expect(parse('stop-snapshot', null)).toEqual({ kind: 'stop', tables: undefined })
    expect(parse('stop-snapshot', { type: 'incremental', 'data-collections': ['public.a'] })).toEqual({
      kind: 'stop',
      tables: ['public.a'],
    })
    expect([parse('pause-snapshot', '{}').kind, parse('resume-snapshot', null).kind]).toEqual(['pause', 'resume'])
    expect([parse('snapshot-window-open', null).kind, parse('snapshot-window-close', 'x').kind]).toEqual([
      'watermark',
      'watermark',
    ])
  })

  it.each([
    ['drop-table', {}, 'the type drop-table is not supported'],
    ['execute-snapshot', null, 'its data is null'],
    ['execute-snapshot', '{', 'its data is no JSON'],
    ['execute-snapshot', '[]', 'its data is no JSON object'],
    ['execute-snapshot', {}, 'data-collections is missing'],
    ['execute-snapshot', { 'data-collections': 'public.a' }, 'data-collections is not an array'],
    ['execute-snapshot', { 'data-collections': [1] }, 'data-collections is not an array'],
    ['execute-snapshot', { 'data-collections': ['a'], type: 'x' }, "type is 'x'"],
    ['execute-snapshot', { 'data-collections': ['a'], 'surrogate-key': 1 }, 'surrogate-key is not a string'],
    ['execute-snapshot', { 'data-collections': ['a'], 'additional-conditions': {} }, 'is not an array'],
    ['execute-snapshot', { 'data-collections': ['a'], 'additional-conditions': [null] }, 'is not an object'],
    [
      'execute-snapshot',
      { 'data-collections': ['a'], 'additional-conditions': [{}] },
      'data-collection is not a string',
    ],
    ['stop-snapshot', { type: 'blocking' }, 'only a snapshot of the type incremental'],
    ['log', {}, 'message is not a string'],
  ])('refuses %s with %j', (type, data, message) => {
    expect(() => parse(type, data)).toThrow(message)
  })

  it('survives anything that a table can contain', () => {
    const types = fc.constantFrom('log', 'execute-snapshot', 'stop-snapshot', 'pause-snapshot', 'x')
    fc.assert(
      fc.property(types, fc.oneof(fc.json(), fc.string(), fc.constant(null)), (type, data) => {
        try {
          parse(type, data)
        } catch (error) {
          expect((error as Error).message).toMatch(/^[a-z]/)
        }
      }),
    )
  })
})

describe('parseTablePattern', () => {
  it.each([
    ['public.ORDERS', 'public.orders', true],
    ['public\\.o.*', 'public.orders', true],
    ['"public"."My.Table"', 'public.My.Table', true],
    ['"shop"."public"."My (old) Table"', 'public.My (old) Table', true],
    ['public."say ""hi"""', 'public.say "hi"', true],
    ['"public"."my.table"', 'public.My.Table', false],
    ['public.orders', 'public.orders2', false],
  ])('matches tables by %s: %s', (text, name, expected) => {
    expect(parseTablePattern(text).test(name)).toBe(expected)
  })

  it('rejects an invalid expression', () => {
    expect(() => parseTablePattern('public.(')).toThrow("'public.(' is no regular expression")
  })
})

describe('the state of an incremental snapshot', () => {
  const table = fc.record({
    name: fc.string({ minLength: 1 }),
    condition: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    surrogateKey: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  })
  const key = fc.array(fc.string(), { minLength: 1 })

  it('is parsed back from the offset', () => {
    const keys = fc.option(fc.tuple(key, fc.option(key, { nil: undefined }), key), { nil: undefined })
    const tables = fc.array(table, { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.string(), tables, keys, fc.boolean(), (signalId, chosen, range, isPaused) => {
        const [maximumKey, lastKey, keyColumns] = range ?? []
        const state = { signalId, tables: chosen, lastKey, maximumKey, keyColumns, isPaused }
        expect(parseIncrementalState(printIncrementalState(state))).toEqual(state)
      }),
    )
  })

  it('has the names and the format of Debezium', () => {
    const state: IncrementalState = {
      signalId: 'ad-hoc-1',
      tables: [{ name: 'public.a', condition: 'x > 1', surrogateKey: undefined }],
      lastKey: undefined,
      maximumKey: undefined,
      keyColumns: undefined,
      isPaused: false,
    }
    expect(printIncrementalState(state)).toEqual({
      incremental_snapshot_correlation_id: 'ad-hoc-1',
      incremental_snapshot_collections:
        '[{"incremental_snapshot_collections_id":"public.a","incremental_snapshot_collections_additional_condition":"x > 1","incremental_snapshot_collections_surrogate_key":""}]',
    })
    expect(printIncrementalState(undefined)).toEqual({})
    expect(parseIncrementalState({ lsn: 1 })).toBeUndefined()
  })

  it('is refused when it is damaged', () => {
    for (const text of ['x', '{}', '[1]', '[{}]']) {
      expect(() => parseIncrementalState({ incremental_snapshot_collections: text }), text).toThrow(
        'must be the tables',
      )
    }
  })
})

const TABLE: Table = {
  id: 7,
  schema: 'public',
  name: 'a',
  replicaIdentity: 'default',
  keyNames: ['id'],
  columns: ['id', 'text'].map((name) => ({
    name,
    typeId: 25,
    modifier: -1,
    isKey: name === 'id',
    isOptional: false,
    defaultExpression: undefined,
  })),
}
const TRANSACTION = { id: 1, commitLsn: 10n, committedAtUs: 0n }
const POSITION = { commitLsn: 10n, index: 0 }

function changeOf(before: Row | undefined, after: Row | undefined, table = TABLE): DatabaseChange {
  const op = before === undefined ? 'c' : after === undefined ? 'd' : 'u'
  const common = { transaction: TRANSACTION, lsn: 9n, position: POSITION }
  return { kind: 'row', op, table, before, after, isBeforeKeyOnly: true, ...common }
}

const ROWS = ['1', '2', '3', '4'].map((id) => [id, `text ${id}`])

describe('ChunkWindow', () => {
  const idsOf = (window: ChunkWindow, lsn: bigint) => window.close(lsn)?.map(([id]) => id)

  it('drops rows that change before or after the chunk is read, and closes behind its position', () => {
    const window = new ChunkWindow(7, ['id'])
    window.onChange(changeOf(undefined, ['1', 'new']))
    expect(window.close(100n)).toBeUndefined()
    window.fill(TABLE, ROWS, 100n)
    window.onChange(changeOf(['2', null], undefined))
    window.onChange(changeOf(['3', null], ['5', 'moved']))
    window.onChange(changeOf(undefined, ['4', 'other table'], { ...TABLE, id: 8 }))
    expect(window.close(99n)).toBeUndefined()
    expect(idsOf(window, 100n)).toEqual(['4'])
  })

  it('drops all rows when the table is truncated', () => {
    const truncate: DatabaseChange = {
      kind: 'truncate',
      tables: [TABLE],
      transaction: TRANSACTION,
      lsn: 9n,
      position: POSITION,
    }
    const before = new ChunkWindow(7, ['id'])
    before.onChange(truncate)
    before.fill(TABLE, ROWS, 100n)
    expect(idsOf(before, 100n)).toEqual([])
    const after = new ChunkWindow(7, ['id'])
    after.fill(TABLE, ROWS, 100n)
    after.onChange(truncate)
    expect(idsOf(after, 100n)).toEqual([])
  })

  it('must be read again when a change does not contain the key', () => {
    const renamed = { ...TABLE, columns: TABLE.columns.map((column) => ({ ...column, name: `new ${column.name}` })) }
    for (const change of [
      changeOf(undefined, ['1', 'x'], renamed),
      changeOf(undefined, [UNSENT, 'x']),
      changeOf([null, 'x'], undefined),
    ]) {
      const window = new ChunkWindow(7, ['id'])
      window.fill(TABLE, ROWS, 100n)
      window.onChange(change)
      expect(window.isBroken).toBe(true)
    }
  })

  it('leaves the topic with the last state of each row, in any order of reads and commits', () => {
    const commits = fc.array(fc.tuple(fc.constantFrom('1', '2', '3'), fc.option(fc.string(), { nil: undefined })), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(commits, fc.nat(12), fc.nat(12), fc.nat(12), (written, ...moments) => {
        const [openAt, readAt, arrivesAt] = moments.map((at) => Math.min(at, written.length)).toSorted((a, b) => a - b)
        const topic = replay(written, openAt!, readAt!, arrivesAt!)
        expect([...topic].toSorted()).toEqual([...stateOf(written)].toSorted())
      }),
    )
  })
})

/** A row that a transaction writes, or deletes if it has no text. */
type Commit = readonly [id: string, text: string | undefined]

function applyTo(state: Map<string, string>, [id, text]: Commit): void {
  if (text === undefined) state.delete(id)
  else state.set(id, text)
}

function stateOf(commits: readonly Commit[]): ReadonlyMap<string, string> {
  const state = new Map<string, string>()
  for (const commit of commits) applyTo(state, commit)
  return state
}

/**
 * The topic, if the stream delivers all commits in their order, `openAt` of them before the window opens, and the chunk sees
 * the first `readAt` and arrives after `arrivesAt`.
 */
function replay(commits: readonly Commit[], openAt: number, readAt: number, arrivesAt: number): Map<string, string> {
  const topic = new Map<string, string>()
  const window = new ChunkWindow(7, ['id'])
  let isEmitted = false
  for (let count = 0; count <= commits.length; count += 1) {
    if (count === arrivesAt) window.fill(TABLE, [...stateOf(commits.slice(0, readAt))], BigInt(readAt))
    const rows: readonly (readonly (string | null)[])[] = (!isEmitted && window.close(BigInt(count))) || []
    isEmitted ||= count >= arrivesAt
    for (const [id, text] of rows) topic.set(id!, text!)
    const commit = commits[count]
    if (commit !== undefined && count >= openAt) window.onChange(toChange(commit))
    if (commit !== undefined) applyTo(topic, commit)
  }
  expect(window.close(BigInt(commits.length))).toBeDefined()
  return topic
}

function toChange([id, text]: Commit): DatabaseChange {
  return text === undefined ? changeOf([id, null], undefined) : changeOf(undefined, [id, text])
}
