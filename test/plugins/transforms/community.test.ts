import { describe, expect, it } from 'vitest'
import {
  type ConnectRecord,
  DataError,
  INT32,
  parseConfig,
  type Schema,
  STRING,
  TIMESTAMP,
} from '../../../src/sdk/index.ts'
import { catalog } from './replay.ts'
import { transformNamed } from './transform-named.ts'

const COMMON = 'com.github.jcustenborder.kafka.connect.transform.common.'
const RECORD: ConnectRecord = {
  topic: 't',
  key: null,
  keySchema: null,
  value: null,
  valueSchema: null,
  headers: [],
  timestampMs: null,
}
const POINT: Schema = {
  type: 'struct',
  name: 'point',
  version: 2,
  fields: [
    { name: 'before_id', schema: INT32 },
    { name: 'at', schema: { type: 'struct', optional: true, fields: [{ name: 'city', schema: STRING }] } },
  ],
}
const point = (at: unknown = { city: 'B' }) => ({ ...RECORD, valueSchema: POINT, value: { before_id: 1, at } })
const problemOf = (name: string, config: Record<string, string>) => {
  const plugin = catalog.find('transformation', name)!
  try {
    parseConfig(plugin.config, config)
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

describe('InsertUuid', () => {
  const NAME = 'com.github.cjmatta.kafka.connect.smt.InsertUuid'
  const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

  it('adds a field to values with and without a schema', () => {
    const insert = transformNamed(`${NAME}$Value`, {})
    const changed = insert(point())
    expect(changed?.valueSchema?.fields?.at(-1)).toEqual({ name: 'uuid', schema: STRING })
    expect(changed?.value).toEqual({ before_id: 1, at: { city: 'B' }, uuid: expect.stringMatching(UUID) })
    expect(insert({ ...RECORD, value: { a: 1 } })?.value).toEqual({ a: 1, uuid: expect.stringMatching(UUID) })
    expect(insert(point())?.valueSchema).toBe(changed?.valueSchema)
  })

  it('gives each record another one, and fails for other types as the original does', () => {
    const insert = transformNamed(`${NAME}$Key`, { 'uuid.field.name': 'id' })
    const idOf = () => JSON.stringify(insert({ ...RECORD, key: {} })?.key)
    expect(idOf()).not.toBe(idOf())
    expect(() => insert(RECORD)).toThrow('Only Map objects supported in absence of schema for [adding UUID to record]')
  })
})

describe('ChangeTopicCase', () => {
  it.each([
    ['UPPER_UNDERSCORE', 'LOWER_CAMEL', 'ORDER_LINES', 'orderLines'],
    ['UPPER_UNDERSCORE', 'LOWER_UNDERSCORE', 'ORDER_LINES', 'order_lines'],
    ['LOWER_UNDERSCORE', 'LOWER_HYPHEN', 'order_lines', 'order-lines'],
    ['LOWER_UNDERSCORE', 'UPPER_UNDERSCORE', 'db.order_lines', 'DB.ORDER_LINES'],
    ['UPPER_CAMEL', 'LOWER_UNDERSCORE', 'OrderLines', 'order_lines'],
    ['LOWER_CAMEL', 'UPPER_CAMEL', 'orderLines', 'OrderLines'],
    ['LOWER_HYPHEN', 'UPPER_CAMEL', 'order-lines', 'OrderLines'],
    ['LOWER_CAMEL', 'LOWER_UNDERSCORE', 'orderXMLLine', 'order_x_m_l_line'],
    ['LOWER_UNDERSCORE', 'LOWER_UNDERSCORE', 'Order_Lines', 'Order_Lines'],
    ['LOWER_UNDERSCORE', 'UPPER_CAMEL', '', ''],
  ])('from %s to %s: %s is %s', (from, to, topic, changed) => {
    expect(transformNamed(`${COMMON}ChangeTopicCase`, { from, to })({ ...RECORD, topic })?.topic).toBe(changed)
  })

  it('rejects other names', () => {
    expect(problemOf('ChangeTopicCase', { from: 'SNAKE', to: 'LOWER_CAMEL' })).toMatch(/must be one of: LOWER_HYPHEN/)
  })
})

describe('TimestampNowField', () => {
  it('adds timestamps, replaces other types, and keeps the same schema object', () => {
    const add = transformNamed(`${COMMON}TimestampNowField$Value`, { fields: 'now,before_id' })
    const changed = add(point())
    expect(changed?.valueSchema?.fields?.map(({ name, schema }) => [name, schema.name])).toEqual([
      ['at', undefined],
      ['now', TIMESTAMP.name],
      ['before_id', TIMESTAMP.name],
    ])
    expect(changed?.value).toEqual({ at: { city: 'B' }, now: expect.any(Date), before_id: expect.any(Date) })
    expect(add(point())?.valueSchema).toBe(changed?.valueSchema)
    expect(add({ ...RECORD, value: { a: 1 } })?.value).toEqual({
      a: 1,
      now: expect.any(Date),
      before_id: expect.any(Date),
    })
    expect(add(RECORD)).toBe(RECORD)
  })
})

describe('ExtractNestedField', () => {
  const CONFIG = { 'input.outer.field.name': 'at', 'input.inner.field.name': 'city', 'output.field.name': 'town' }
  const extract = transformNamed(`${COMMON}ExtractNestedField$Value`, CONFIG)

  it('copies the field, and keeps of the schema only its name', () => {
    expect(extract(point())).toMatchObject({
      value: { before_id: 1, at: { city: 'B' }, town: 'B' },
      valueSchema: { name: 'point', fields: [{}, {}, { name: 'town', schema: STRING }] },
    })
    expect(extract(point())?.valueSchema?.version).toBeUndefined()
  })

  it('rejects records without the field', () => {
    expect(() => extract(point(null))).toThrow('the field at is null, so at.city cannot be extracted')
    expect(() => extract({ ...RECORD, value: {} })).toThrow('MAP is not a supported type.')
    const other = transformNamed(`${COMMON}ExtractNestedField$Value`, { ...CONFIG, 'input.inner.field.name': 'x' })
    expect(() => other(point())).toThrow('Field does not exist: at.x')
  })
})

describe('PatternRename', () => {
  const rename = (config: Record<string, string>) => transformNamed(`${COMMON}PatternRename$Value`, config)

  it('replaces each match in the names of fields, and by default ignores the case', () => {
    const run = rename({ 'field.pattern': '^BEFORE', 'field.replacement': '__before' })
    expect(run(point())?.value).toEqual({ __before_id: 1, at: { city: 'B' } })
    expect(run(point())?.valueSchema).toBe(run(point())?.valueSchema)
    expect(run({ ...RECORD, value: { before_a: 1, b: 2 } })?.value).toEqual({ __before_a: 1, b: 2 })
    const groups = rename({ 'field.pattern': '([a-z])_', 'field.replacement': '$1.', 'field.pattern.flags': '' })
    expect(groups({ ...RECORD, value: { a_b_c: 1, X_y: 2 } })?.value).toEqual({ 'a.b.c': 1, X_y: 2 })
  })

  it('rejects expressions and flags that are not supported', () => {
    const name = 'PatternRename$Value'
    expect(problemOf(name, { 'field.pattern': '(', 'field.replacement': '' })).toMatch(/configuration field\.pattern/)
    const flags = { 'field.pattern': 'a', 'field.replacement': '', 'field.pattern.flags': 'COMMENTS' }
    expect(problemOf(name, flags)).toMatch(/'COMMENTS' is not supported; use CASE_INSENSITIVE, MULTILINE, DOTALL/)
  })

  it('rejects names that become equal', () => {
    const run = rename({ 'field.pattern': '.*', 'field.replacement': 'x' })
    expect(() => run(point())).toThrow(DataError)
  })
})

describe('HeaderToField', () => {
  const copy = (mappings: string) => transformNamed(`${COMMON}HeaderToField$Value`, { 'header.mappings': mappings })

  it.each<[string, unknown, Schema | null, Schema, unknown]>([
    ['h:STRING', 'x', STRING, { type: 'string', optional: true }, 'x'],
    ['h:string', 5, INT32, { type: 'string', optional: true }, '5'],
    ['h:INT32', '7', STRING, { type: 'int32', optional: true }, 7],
    ['h:INT64', 7, INT32, { type: 'int64', optional: true }, 7],
    ['h:FLOAT64', '1.5', STRING, { type: 'float64', optional: true }, 1.5],
    ['h:BOOLEAN', 'true', STRING, { type: 'boolean', optional: true }, true],
    ['h:INT64(Timestamp)', new Date(5), TIMESTAMP, { ...TIMESTAMP, optional: true }, new Date(5)],
    ['nowhere:INT8', 'x', STRING, { type: 'int8', optional: true }, null],
  ])('copies a header: %s', (mapping, value, schema, fieldSchema, copied) => {
    const changed = copy(mapping)({ ...point(), headers: [{ key: 'h', value, schema }] })
    expect(changed?.valueSchema?.fields?.at(-1)?.schema).toEqual(fieldSchema)
    expect(Object.values(changed?.value as object).at(-1)).toEqual(copied)
  })

  it('uses the last header, and the name of the field if there is one', () => {
    const headers = [
      { key: 'h', value: 'a', schema: STRING },
      { key: 'h', value: 'b', schema: STRING },
    ]
    expect(copy('h:STRING:field')({ ...point(), headers })?.value).toMatchObject({ field: 'b' })
  })

  it('rejects headers that cannot be converted', () => {
    const record = { ...point(), headers: [{ key: 'h', value: 'x', schema: STRING }] }
    expect(() => copy('h:INT32')(record)).toThrow('was out of range for requested data type')
    expect(() => copy('h:STRING')({ ...RECORD, value: {} })).toThrow('MAP is not a supported type.')
  })

  it.each(['h', 'h:BYTES', 'h:STRING:f:g', ':STRING'])('rejects the mapping %s', (mapping) => {
    expect(problemOf('HeaderToField$Value', { 'header.mappings': mapping })).toMatch(
      /configuration header\.mappings: (?:expected HEADER:TYPE|the type 'BYTES' is not supported)/,
    )
  })
})
