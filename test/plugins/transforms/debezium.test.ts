import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/sdk/index.ts'
import { sink, source } from './case-data.ts'
import golden from './debezium.golden.json' with { type: 'json' }
import { change, debeziumCases, outbox } from './debezium-cases.ts'
import { catalog, type Outcome, outcomeOf, readRecord, wholeOutcome } from './replay.ts'

/** Debezium's messages from which Weir differs on purpose, and the reason. */
const DIFFERENT: readonly (readonly [message: RegExp, why: string])[] = [
  [
    /^Cannot invoke ".*" because/,
    'a NullPointerException of the original; Weir names the missing value, or does not fail',
  ],
]

const cases = debeziumCases().map((one, index) => ({ ...one, java: golden[index] as Outcome }))
const classes = [...new Set(cases.map((one) => one.class))]

describe('the Debezium transforms compared with the originals', () => {
  it('have a result of the original for every case', () => {
    expect(golden).toHaveLength(cases.length)
  })

  it.each(classes)('have the same results: %s', { tags: ['slow'] }, (name) => {
    for (const { java, ...one } of cases.filter((known) => known.class === name)) {
      if (DIFFERENT.some(([message]) => message.test(java.error ?? ''))) continue
      expect(outcomeOf(one), JSON.stringify(one)).toEqual(wholeOutcome(one.record, java))
    }
  })
})

describe('the Debezium transforms', () => {
  const COLUMNS = { id: { type: 'int32' } }
  const removed = change(COLUMNS, 'd', { before: { id: 1 } })
  const out = (className: string, config: Record<string, string>, value: object | null) =>
    outcomeOf({ class: className, config, record: sink(value) }).out as Record<string, unknown> | null

  it.each<[Record<string, string>, unknown, unknown]>([
    [{ 'drop.tombstones': 'false' }, null, { value: null }],
    [{ 'drop.tombstones': 'false', 'delete.handling.mode': 'none' }, { value: { payload: null } }, { value: null }],
    [{ 'delete.handling.mode': 'rewrite' }, { value: { payload: { id: 1, __deleted: 'true' } } }, null],
  ])('support the keys of Debezium before 2.5: %j', (config, deleted, tombstone) => {
    const unwrap = (value: object | null) => out('ExtractNewRecordState', config, value)
    for (const [found, wanted] of [
      [unwrap(removed), deleted],
      [unwrap(null), tombstone],
    ]) {
      if (wanted === null) expect(found).toBeNull()
      else expect(found).toMatchObject(wanted as object)
    }
  })

  it('reuse the schema object for rows of a table and for payloads with the same structure', () => {
    const unwrap = catalog.find('transformation', 'ExtractNewRecordState')!
    const route = catalog.find('transformation', 'EventRouter')!
    const config = { 'table.expand.json.payload': 'true', 'table.fields.additional.placement': 'v:envelope' }
    const given = [
      [unwrap, { 'add.fields': 'op' }, source(change(COLUMNS, 'c', { after: { id: 1 } }))],
      [route, config, source(outbox({}))],
    ] as const
    for (const [plugin, settings, record] of given) {
      const run = plugin.create(parseConfig(plugin.config, settings))
      const one = readRecord(record)
      expect(run(one)?.valueSchema).toBeTypeOf('object')
      expect(run(one)?.valueSchema).toBe(run({ ...one })?.valueSchema)
    }
  })

  it('infer the schema of a list payload from all of its objects', () => {
    const lines = '[{"sku":"a","n":null},{"sku":"b","gift":true}]'
    const { value } = out('EventRouter', { 'table.expand.json.payload': 'true' }, outbox({ payload: lines })) ?? {}
    expect(value).toMatchObject({
      schema: { type: 'array', items: { fields: [{ field: 'sku' }, { field: 'gift' }] } },
      payload: [
        { sku: 'a', gift: null },
        { sku: 'b', gift: true },
      ],
    })
  })

  it('reject invalid settings', () => {
    const errorOf = (config: Record<string, string>) =>
      outcomeOf({ class: 'EventRouter', config, record: sink(null) }).error
    expect(errorOf({ 'table.fields.additional.placement': 'a:nowhere' })).toMatch(/valid String pairs or trios/)
    expect(errorOf({ 'table.op.invalid.behavior': 'ignore' })).toMatch(/must be one of: warn, error, fatal/)
    const unwrap = outcomeOf({ class: 'ExtractNewRecordState', config: { 'add.fields': 'a:b:c' }, record: sink(null) })
    expect(unwrap.error).toBe('Unexpected field name: a:b:c')
  })
})
