import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/sdk/index.ts'
import { sink, source, struct, typed } from './case-data.ts'
import { change } from './debezium-cases.ts'
import golden from './debezium-routing.golden.json' with { type: 'json' }
import { routingCases } from './debezium-routing-cases.ts'
import { catalog, type Outcome, outcomeOf, readRecord, wholeOutcome } from './replay.ts'
import { transformNamed } from './transform-named.ts'

/** Debezium's messages from which Weir differs on purpose, and the reason. */
const DIFFERENT: readonly (readonly [message: RegExp, why: string])[] = [
  [/^Cannot invoke ".*" because/, 'a NullPointerException of the original; Weir names the value, or does not fail'],
  [/^Unprocessable message/, 'the original fails when the struct of a field is null; Weir leaves the field out'],
  [/^No group 2$/, 'the same error in different words'],
]

const cases = routingCases().map((one, index) => ({ ...one, java: golden[index] as Outcome }))
const classes = [...new Set(cases.map((one) => one.class))]

describe('the Debezium transforms that route compared with the originals', () => {
  it('have a result of the original for every case', () => {
    expect(golden).toHaveLength(cases.length)
  })

  it.each(classes)('have the same results: %s', { tags: ['slow'] }, (name) => {
    for (const { java, ...one } of cases.filter((known) => known.class === name)) {
      if (DIFFERENT.some(([message]) => message.test(java.error ?? ''))) continue
      // The original makes the struct required that gets a field; a test below shows what Weir does.
      if (one.config['fields']?.includes('after.')) continue
      expect(outcomeOf(one), JSON.stringify(one)).toEqual(wholeOutcome(one.record, java))
    }
  })

  it.each(classes)('return the same schema object for records with the same schema: %s', (name) => {
    const transform = catalog.find('transformation', name)!
    for (const { config, record, java } of cases.filter((known) => known.class === name)) {
      if (java.error !== undefined || java.out === null) continue
      const run = transform.create(parseConfig(transform.config, config))
      const given = readRecord(record)
      const [first, second] = [run(given), run({ ...given })]
      expect(second?.keySchema).toBe(first?.keySchema)
      expect(second?.valueSchema).toBe(first?.valueSchema)
    }
  })
})

describe('the Debezium transforms that route', () => {
  const COLUMNS = { id: { type: 'int32' }, name: { type: 'string', optional: true, default: 'nobody' } }

  it('keep a null column null also if it has a default', () => {
    const route = { 'topic.regex': '.*', 'topic.replacement': 'all' }
    const { out } = outcomeOf({
      class: 'io.debezium.transforms.ByLogicalTableRouter',
      config: route,
      record: source(change(COLUMNS, 'c', { after: { id: 1, name: null } })),
    })
    expect(out).toMatchObject({ topic: 'all', value: { payload: { after: { id: 1, name: null } } } })
  })

  it('have the names of Debezium 3.6', () => {
    const key = struct({ id: { type: 'int32' } }, { id: 1 }, { name: 'k' })
    const route = { 'topic.regex': '.*', 'topic.replacement': 'all', 'logical.destination.cache.size': '4' }
    const { out } = outcomeOf({
      class: 'io.debezium.transforms.ToLogicalTopicRouter',
      config: route,
      record: source(null, { key }),
    })
    expect(out).toMatchObject({ key: { payload: { id: 1, __dbz__sourceIdentifier: 'orders' } } })
  })

  it.each<[string, Record<string, string>, RegExp]>([
    ['ByLogicalTableRouter', { 'topic.regex': '(', 'topic.replacement': 'x' }, /configuration topic\.regex/],
    ['ByLogicalTableRouter', { 'topic.regex': '.*' }, /"topic\.replacement" which has no default/],
    [
      'ByLogicalTableRouter',
      { 'topic.regex': '.*', 'topic.replacement': 'x', 'key.field.regex': 'a' },
      /key\.field\.replacement must be non-empty if key\.field\.regex is set/,
    ],
    ['HeaderToValue', { headers: 'a,b', fields: 'a', operation: 'move' }, /same number of elements/],
    ['HeaderToValue', { headers: 'a b', fields: 'a', operation: 'move' }, /'a b' contains white space/],
    ['HeaderToValue', { headers: 'a', fields: 'a', operation: 'swap' }, /must be one of: move, copy/],
    ['PartitionRouting', { 'partition.payload.fields': '', 'partition.topic.num': '1' }, /at least one field/],
    ['PartitionRouting', { 'partition.payload.fields': 'a', 'partition.topic.num': '0' }, /at least 1/],
    ['SchemaChangeEventFilter', { 'schema.change.event.exclude.list': 'ALTER,RENAME' }, /got 'RENAME'/],
  ])('reject invalid settings of %s: %j', (name, config, message) => {
    expect(outcomeOf({ class: name, config, record: sink(null) }).error).toMatch(message)
  })

  it('add headers to structs that do not exist yet', () => {
    const { out } = outcomeOf({
      class: 'HeaderToValue',
      config: { headers: 'a,b', fields: 'meta.a,meta.b', operation: 'move' },
      record: source(struct({ id: { type: 'int32' } }, { id: 1 }), {
        headers: [
          { key: 'a', value: typed('string', 'x') },
          { key: 'b', value: typed('int32', 2) },
        ],
      }),
    })
    expect(out).toMatchObject({ headers: [], value: { payload: { id: 1, meta: { a: 'x', b: 2 } } } })
  })

  it('keep a struct optional to which a header is added, so that deletes can be written', () => {
    const { out } = outcomeOf({
      class: 'HeaderToValue',
      config: { headers: 'a', fields: 'after.a', operation: 'copy' },
      record: source(change(COLUMNS, 'd', { before: { id: 1, name: 'x' } }), {
        headers: [{ key: 'a', value: typed('string', 'x') }],
      }),
    })
    expect(out).toMatchObject({
      value: {
        schema: { fields: expect.arrayContaining([expect.objectContaining({ field: 'after', optional: true })]) },
        payload: { before: { id: 1 }, after: null },
      },
    })
  })

  it('reject a header whose field is inside of one that is not a struct', () => {
    const { error } = outcomeOf({
      class: 'HeaderToValue',
      config: { headers: 'a', fields: 'id.a', operation: 'copy' },
      record: source(struct({ id: { type: 'int32' } }, { id: 1 }), {
        headers: [{ key: 'a', value: typed('string', 'x') }],
      }),
    })
    expect(error).toMatch(/is in a field that is not a struct/)
  })

  it('keep the number of schemas limited that different headers cause', () => {
    const run = transformNamed('HeaderToValue', { headers: 'a', fields: 'a', operation: 'copy' })
    const given = readRecord(source(struct({ id: { type: 'int32' } }, { id: 1 })))
    for (let version = 0; version < 1_000; version++) {
      const schema = { type: 'string', version } as const
      const changed = run({ ...given, headers: [{ key: 'a', schema, value: 'x' }] })
      expect(changed?.valueSchema?.fields).toEqual([
        { name: 'id', schema: { type: 'int32' } },
        { name: 'a', schema },
      ])
    }
  })

  it('reject structs and lists in partition.payload.fields', () => {
    const tags = { type: 'array', items: { type: 'string', optional: false } }
    const { error } = outcomeOf({
      class: 'PartitionRouting',
      config: { 'partition.payload.fields': 'after.tags', 'partition.topic.num': '3' },
      record: source(change({ tags }, 'c', { after: { tags: ['a'] } })),
    })
    expect(error).toBe('a value of type ARRAY has no hash code that is equal in Java')
  })
})

describe('UnwrapFromEnvelope', () => {
  const COLUMNS = { id: { type: 'int32' } }
  const deleted = change(COLUMNS, 'd', { before: { id: 1 } })
  const unwrap = (config: Record<string, string>, value: object | null) =>
    outcomeOf({ class: 'io.debezium.transforms.UnwrapFromEnvelope', config, record: sink(value) }).out

  it('has the defaults of Debezium before 1.0: deletes and tombstones are dropped', () => {
    expect(unwrap({}, deleted)).toBeNull()
    expect(unwrap({}, null)).toBeNull()
    expect(unwrap({}, change(COLUMNS, 'c', { after: { id: 1 } }))).toMatchObject({ value: { payload: { id: 1 } } })
  })

  it('keeps tombstones, and deletes as null, if so configured', () => {
    expect(unwrap({ 'drop.tombstones': 'false' }, null)).toMatchObject({ value: null })
    expect(unwrap({ 'drop.deletes': 'false' }, deleted)).toMatchObject({ value: { payload: null } })
    expect(unwrap({ 'delete.handling.mode': 'rewrite' }, deleted)).toMatchObject({
      value: { payload: { id: 1, __deleted: 'true' } },
    })
  })
})
