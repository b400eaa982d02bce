import { describe, expect, it } from 'vitest'
import {
  type ConnectRecord,
  INT32,
  map,
  OPTIONAL_STRING,
  optional,
  type RawConfig,
  type Schema,
  STRING,
  struct,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { transformNamed } from './transform-named.ts'

const EVENT: Schema = { ...struct('Event', { id: INT32, body: optional(STRING) }), version: 3, doc: 'an event' }
const record = (value: unknown, valueSchema: Schema | null = null): ConnectRecord => ({
  topic: 't',
  key: null,
  keySchema: null,
  value,
  valueSchema,
  headers: [],
  timestampMs: null,
})
const json = (value: unknown) => JSON.stringify(value)
const run = (name: string, config: RawConfig, value: unknown, schema: Schema | null = null) => {
  const made = transformNamed(name, config)(record(value, schema))
  return { schema: made?.valueSchema, value: made?.value }
}

describe('JsonParse', () => {
  it('parses a whole value, string or bytes, with exact numbers', () => {
    const text = '{"id":9007199254740993,"at":[1.5,null]}'
    const data = { id: 9_007_199_254_740_993n, at: [1.5, null] }
    expect(run('JsonParse$Value', {}, text, STRING)).toEqual({ schema: null, value: data })
    expect(run('JsonParse$Value', {}, Buffer.from(text))).toEqual({ schema: null, value: data })
  })

  it('infers the schema of a parsed field of a struct', () => {
    const parse = transformNamed('JsonParse$Value', { fields: 'body' })
    const first = parse(record({ id: 1, body: '{"n":1,"tags":["x"]}' }, EVENT))
    expect(first?.value).toEqual({ id: 1, body: { n: 1, tags: ['x'] } })
    expect(first?.valueSchema).toMatchObject({
      name: 'Event',
      version: 3,
      fields: [
        { name: 'id' },
        { name: 'body', schema: { type: 'struct', name: 'body', fields: [{ name: 'n' }, { name: 'tags' }] } },
      ],
    })
    expect(parse(record({ id: 2, body: '{"n":7,"tags":["y","z"]}' }, EVENT))?.valueSchema).toBe(first?.valueSchema)
    expect(parse(record({ id: 3, body: '[]' }, EVENT))?.valueSchema?.fields?.[1]?.schema.type).toBe('array')
    expect(parse(record({ id: 4, body: null }, EVENT))?.value).toEqual({ id: 4, body: null })
  })

  it('infers a schema that has the members of all objects of a list', () => {
    const at = { x: 1, y: 2.5, tags: [1, 2] }
    for (const body of [
      [{ at: { x: 1 } }, { at: { y: 2 } }, { at }],
      [{ n: [1] }, { n: [3_000_000_000] }, { n: [0.5] }],
      [{ n: 1 }, { n: 3_000_000_000 }],
      [[{ a: 1 }], [{ b: 'x' }]],
    ]) {
      const { schema, value } = run('JsonParse$Value', { fields: 'body' }, { id: 1, body: json(body) }, EVENT)
      const { body: back } = JSON.parse(
        run('JsonStringify$Value', {}, value, schema as Schema).value as string,
        (_, member) => member ?? undefined,
      )
      expect(back).toEqual(body)
    }
    const mixed = { id: 1, body: '[{"a":1},{"a":"x"}]' }
    expect(() => run('JsonParse$Value', { fields: 'body' }, mixed, EVENT)).toThrow('of the types int32 and string')
  })

  it('parses members of objects, and throws a DataError for invalid JSON', () => {
    expect(run('JsonParse$Value', { fields: 'a,b' }, { a: '[1]', c: '{' })).toEqual({
      schema: null,
      value: { a: [1], c: '{' },
    })
    for (const [config, value, schema] of [
      [{}, '{', STRING],
      [{ fields: 'body' }, { id: 1, body: '{x' }, EVENT],
      [{ fields: 'id' }, { id: 1, body: null }, EVENT],
    ] as const) {
      expect(() => run('JsonParse$Value', config, value, schema)).toThrow(expect.objectContaining({ code: 'data' }))
    }
  })
})

describe('JsonStringify', () => {
  it('serializes like JsonConverter', () => {
    const schema = struct('S', { at: TIMESTAMP, more: map(STRING, INT32) })
    const value = { at: new Date(5), more: new Map([['a', 1]]) }
    expect(run('JsonStringify$Value', {}, value, schema)).toEqual({
      schema: OPTIONAL_STRING,
      value: '{"at":5,"more":{"a":1}}',
    })
    expect(run('JsonStringify$Value', {}, { a: 2n ** 60n })).toMatchObject({ value: `{"a":${2n ** 60n}}` })
  })

  it('serializes the configured fields, which JsonParse restores', () => {
    const schema = struct('S', { id: INT32, body: optional(struct('B', { n: optional(INT32) })) })
    const written = run('JsonStringify$Value', { fields: 'body' }, { id: 1, body: { n: 5 } }, schema)
    expect(written.value).toEqual({ id: 1, body: '{"n":5}' })
    expect(written.schema?.fields?.map((field) => field.schema.type)).toEqual(['int32', 'string'])
    const read = run('JsonParse$Value', { fields: 'body' }, written.value, written.schema)
    expect(read.value).toEqual({ id: 1, body: { n: 5 } })
    expect(run('JsonStringify$Value', { fields: 'b' }, { a: [1], b: [1] }).value).toEqual({ a: [1], b: '[1]' })
  })

  it('preserves null', () => {
    expect(run('JsonStringify$Value', {}, null, EVENT)).toEqual({ schema: EVENT, value: null })
    expect(run('JsonStringify$Value', { fields: 'body' }, { id: 1, body: null }, EVENT).value).toEqual({
      id: 1,
      body: null,
    })
  })
})
