import { expect, it } from 'vitest'
import { diffLines, foldUnchanged } from '../../src/common/line-diff.ts'
import { findJsonLines, lineOfPointer } from '../../src/console/page/json-lines.ts'
import { layOutReferences, NODE_SIZE } from '../../src/console/page/reference-graph.ts'
import { definingScope, scopesOf } from '../../src/console/page/registry-scopes.ts'
import { locateMessages } from '../../src/console/page/schema-messages.ts'
import { filterVersions, readVersionRows, type VersionRow } from '../../src/console/page/version-rows.ts'

const drawn = (left: string, right: string) =>
  diffLines(left, right).map((row) => `${row.kind} ${row.left?.number ?? '-'} ${row.right?.number ?? '-'}`)

it('A diff pairs removed with added lines and keeps the numbers of both sides', () => {
  expect(drawn('a\nb\nc', 'a\nx\nc\nd')).toEqual(['same 1 1', 'changed 2 2', 'same 3 3', 'added - 4'])
  expect(drawn('a\nb\nc', 'a\nc')).toEqual(['same 1 1', 'removed 2 -', 'same 3 2'])
  expect(drawn('same', 'same')).toEqual(['same 1 1'])
})

it('A diff contains every line of both texts, in order, and as many equal lines as possible', () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * below)
  }
  const text = () => Array.from({ length: 1 + random(12) }, () => 'abcd'[random(4)]).join('\n')
  for (let round = 0; round < 500; round += 1) {
    const [left, right] = [text(), text()]
    const rows = diffLines(left, right)
    expect(rows.flatMap((row) => row.left?.text ?? []).join('\n')).toBe(left)
    expect(rows.flatMap((row) => row.right?.text ?? []).join('\n')).toBe(right)
    const same = rows.filter(({ kind }) => kind === 'same')
    expect(same.every((row) => row.left?.text === row.right?.text)).toBe(true)
    expect(same.length).toBe(longestCommon(left.split('\n'), right.split('\n')))
  }
})

it('Texts that differ beyond the limit of edits are shown as replaced', () => {
  const lines = (prefix: string) => Array.from({ length: 5_000 }, (_, at) => `${prefix}${at}`).join('\n')
  const rows = diffLines(lines('a'), lines('b'))
  expect(rows).toHaveLength(5_000)
  expect(rows.every(({ kind }) => kind === 'changed')).toBe(true)
})

it('Equal lines away from a difference are folded', () => {
  const same = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n')
  const parts = foldUnchanged(diffLines(`${same}\nold`, `${same}\nnew`))
  expect(parts.map(({ isFolded, rows }) => [isFolded, rows.length])).toEqual([
    [true, 17],
    [false, 4],
  ])
})

const AVRO = `{
  "type": "record",
  "fields": [
    {"name": "a/b", "type": "int"},
    {"name": "c",
     "type": "string"}
  ],
  "x/y": 1
}`

it('The lines of JSON values are found by their pointers', () => {
  const json = findJsonLines(AVRO)
  expect(json.errorLine).toBeUndefined()
  expect(['', '/fields/0', '/fields/1/type', '/x~1y'].map((pointer) => json.lines.get(pointer))).toEqual([1, 4, 6, 8])
  expect(lineOfPointer(json, '#/fields/1/doc/0')).toBe(5)
  expect(findJsonLines('{\n  "a": 1,\n  "b": }').errorLine).toBe(3)
  expect(findJsonLines('['.repeat(10_000)).errorLine).toBe(1)
  expect(findJsonLines('').errorLine).toBe(1)
})

it('Messages of a verbose check are marked at their line of the draft', () => {
  const missing =
    "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'c' at path '/fields/1' in the new schema has no default value and is missing in the old schema', additionalInfo:'c'}"
  expect(locateMessages([missing, '{oldSchemaVersion: 1}', "{oldSchema: '{}'}"], AVRO, 'AVRO')).toEqual([
    {
      text: "The field 'c' at path '/fields/1' in the new schema has no default value and is missing in the old schema (READER_FIELD_MISSING_DEFAULT_VALUE)",
      line: 5,
    },
    { text: 'Compared with version 1.' },
  ])
  const old = missing.replace('new schema', 'old schema')
  expect(locateMessages([old], AVRO, 'AVRO')[0]).not.toHaveProperty('line')
  const proto = 'syntax = "proto3";\nmessage Order {\n  int64 id = 1;\n  string name = 2;\n}'
  const kind = `{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"The kind of a SCALAR field at path '#/Order/2' in the new schema does not match its kind in the old schema"}`
  expect(locateMessages([kind], proto, 'PROTOBUF')).toEqual([
    {
      text: "The kind of a SCALAR field at path '#/Order/2' in the new schema does not match its kind in the old schema (FIELD_SCALAR_KIND_CHANGED)",
      line: 4,
    },
  ])
})

it('A level is inherited from the nearest scope that has one', () => {
  const scopes = scopesOf(':.team:orders')
  expect(scopes.map(({ suffix }) => suffix)).toEqual(['/%3A.team%3Aorders', '/%3A.team%3A', ''])
  expect(definingScope(scopes, [undefined, 'FULL', 'BACKWARD'])?.title).toBe('context .team')
  expect(scopesOf(':.team:').map(({ kind }) => kind)).toEqual(['context', 'global'])
  expect(scopesOf('orders').map(({ kind }) => kind)).toEqual(['subject', 'global'])
})

it('The graph of references has referrers on the left and says how many are hidden', () => {
  const others = Array.from({ length: 20 }, (_, at) => ({ subject: `s${at}`, version: 1 }))
  const graph = layOutReferences({ subject: 'x'.repeat(60), version: 3 }, others, [{ subject: 'base', version: 2 }])
  expect(graph.hidden).toBe(8)
  const [center] = graph.nodes.filter(({ kind }) => kind === 'center')
  expect(center?.title).toMatch(/^…x{27} 3$/)
  expect(
    graph.nodes.every(
      ({ x, y }) => x + NODE_SIZE.width <= graph.width && y >= 0 && y + NODE_SIZE.height <= graph.height,
    ),
  ).toBe(true)
  expect(new Set(graph.nodes.map(({ kind, x }) => `${kind} ${x}`)).size).toBe(3)
})

it('The versions of all subjects are read in pages, and found by words and by ID', async () => {
  const all = Array.from({ length: 2_500 }, (_, at) => ({
    subject: at % 2 ? 'Orders' : ':.team:orders',
    version: at,
    id: at,
    schema: '"int"',
  }))
  const offsets: number[] = []
  let rows: readonly VersionRow[] = []
  await readVersionRows(
    async (offset, limit) => {
      offsets.push(offset)
      return all.slice(offset, offset + limit)
    },
    (found) => {
      rows = found
    },
  )
  expect([offsets, rows.length]).toEqual([[0, 1_000, 2_000], 2_500])
  expect(filterVersions(rows, { search: 'ORDERS id:7' })).toEqual([
    { subject: 'Orders', version: 7, id: 7, schemaType: 'AVRO' },
  ])
  expect(filterVersions(rows, { context: '.team' })).toHaveLength(1_250)
  expect(filterVersions(rows, { context: '.' })).toHaveLength(1_250)
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const lengths = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  const at = (x: number, y: number) => lengths[x]?.[y] ?? 0
  for (let x = 1; x <= a.length; x += 1) {
    for (let y = 1; y <= b.length; y += 1) {
      const row = lengths[x]
      if (row) row[y] = a[x - 1] === b[y - 1] ? at(x - 1, y - 1) + 1 : Math.max(at(x - 1, y), at(x, y - 1))
    }
  }
  return at(a.length, b.length)
}
