import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await startTestRegistry()
})
beforeEach(() => registry.reset())
afterAll(() => registry.stop())

const post = async (path: string, body: object) => (await registry.call('POST', path, body)).body

const json = (schema: unknown, more: object = {}) => ({
  schemaType: 'JSON',
  schema: JSON.stringify(schema, null, 2),
  ...more,
})
const proto = (schema: string, more: object = {}) => ({ schemaType: 'PROTOBUF', schema, ...more })

describe('JSON Schema', () => {
  it('is stored as compact JSON, can be referenced by URI and is checked for compatibility', async () => {
    const address = { type: 'object', properties: { street: { type: 'string' } }, additionalProperties: false }
    expect(await post('/subjects/address/versions', json(address))).toMatchObject({
      schemaType: 'JSON',
      schema: JSON.stringify(address),
    })
    const person = { type: 'object', properties: { home: { $ref: 'address.json' } } }
    const references = [{ name: 'address.json', subject: 'address', version: 1 }]
    expect(await post('/subjects/person/versions', json(person, { references }))).toMatchObject({
      version: 1,
      references,
    })
    const result = await post('/compatibility/subjects/address/versions/latest?verbose=true', json({ type: 'string' }))
    expect(result).toEqual({
      is_compatible: false,
      messages: expect.arrayContaining([expect.stringContaining('{errorType:"TYPE_CHANGED", description:"')]),
    })
  })
})

describe('Protobuf', () => {
  it('is stored in canonical form, can be imported by name and is checked for compatibility', async () => {
    const address = 'syntax="proto3"; package n; /* here */ message Address { string street = 1; }'
    const canonical = 'syntax = "proto3";\npackage n;\n\nmessage Address {\n  string street = 1;\n}\n'
    expect(await post('/subjects/address/versions', proto(address))).toMatchObject({
      schemaType: 'PROTOBUF',
      schema: canonical,
    })
    const person = 'syntax="proto3"; import "address.proto"; message Person { n.Address home = 1; }'
    const references = [{ name: 'address.proto', subject: 'address', version: -1 }]
    expect(await post('/subjects/person/versions', proto(person, { references }))).toMatchObject({
      version: 1,
      references: [{ name: 'address.proto', subject: 'address', version: 1 }],
    })
    const changed = proto(address.replace('string', 'double'))
    expect(await post('/compatibility/subjects/address/versions/latest?verbose=true', changed)).toEqual({
      is_compatible: false,
      messages: expect.arrayContaining([
        expect.stringContaining('{errorType:"FIELD_SCALAR_KIND_CHANGED", description:"'),
      ]),
    })
    const serialized = (await registry.call('GET', '/schemas/ids/1?format=serialized')).body as { schema: string }
    expect(await post('/subjects/address', proto(serialized.schema))).toMatchObject({ version: 1, schema: canonical })
  })

  describe('as a descriptor', () => {
    const options = `syntax = "proto3"; package x; import "google/protobuf/descriptor.proto";
      message Rule { string name = 1; repeated string tags = 2; }
      extend google.protobuf.FieldOptions { Rule rule = 50000; } extend google.protobuf.FileOptions { repeated string owner = 50000; }`
    const text = `syntax = "proto3"; package n; import "options.proto";
      option java_multiple_files = true; option (x.owner) = "b"; option java_package = "n.java"; option (x.owner) = "a";
      message Item { map<string, Item> parts = 2 [(x.rule).tags = "p", (x.rule).name = "r", (x.rule).tags = "q"]; Kind kind = 1 [json_name = "kind"]; }
      enum Kind { NONE = 0; }`
    const references = [{ name: 'options.proto', subject: 'options', version: 1 }]
    const register = (schema: string) =>
      post('/subjects/item/versions', proto(schema, { references })) as Promise<{ id: number }>
    const serializedOf = async (id: number) =>
      ((await registry.call('GET', `/schemas/ids/${id}?format=serialized`)).body as { schema: string }).schema

    it('finds the schema of which it was made, and is registered under its ID', async () => {
      await post('/subjects/options/versions', proto(options))
      const { id } = await register(text)
      const serialized = proto(await serializedOf(id), { references })
      expect(await post('/subjects/item', serialized)).toMatchObject({ id, version: 1 })
      expect(await post('/subjects/item?normalize=true', serialized)).toMatchObject({ id, version: 1 })
      expect(await register(serialized.schema)).toMatchObject({ id })
      expect(await post('/subjects/item/versions?normalize=true', serialized)).toMatchObject({ id })
    })

    it('keeps the custom options that its references declare', async () => {
      await post('/subjects/options/versions', proto(options))
      const { id } = await register(text)
      const other = await post('/subjects/other/versions', proto(await serializedOf(id), { references }))
      expect(other).toMatchObject({ schema: expect.stringContaining('option (x.owner) = "b";') })
      expect(other).toMatchObject({ schema: expect.stringContaining('name: "r"') })
      const again = proto(await serializedOf((other as { id: number }).id), { references })
      expect(await post('/subjects/item', again)).toMatchObject({ id })
    })

    it("finds the schema that Confluent's registry stored without the custom options, and no other one", async () => {
      await post('/subjects/options/versions', proto(options))
      const { id } = await register(text)
      const serialized = proto(await serializedOf(id), { references })
      const without = text.replace(/ option \(x[^;]+;/g, '').replace(/ \[\(x\.rule[^\]]+\]/, '')
      const stored = await post('/subjects/confluent/versions', proto(without, { references }))
      expect(await post('/subjects/confluent', serialized)).toMatchObject({ id: (stored as { id: number }).id })
      await post('/subjects/changed/versions', proto(text.replace('"q"', '"z"'), { references }))
      expect(await post('/subjects/changed', serialized)).toMatchObject({ error_code: 40403 })
    })
  })

  it('has neither extensions nor custom options, except those of Confluent, with ignore_extensions', async () => {
    const text = `syntax = "proto2"; import "confluent/meta.proto"; import "google/protobuf/descriptor.proto";
      message M { option (o) = 1; optional int32 a = 1 [(confluent.field_meta).doc = "d", deprecated = true]; extensions 5; }
      extend google.protobuf.MessageOptions { optional int32 o = 50000; }`
    const { id } = (await post('/subjects/s/versions', proto(text))) as { id: number }
    const { body } = await registry.call('GET', `/schemas/ids/${id}?format=ignore_extensions`)
    expect((body as { schema: string }).schema).toBe(`syntax = "proto2";

import "confluent/meta.proto";
import "google/protobuf/descriptor.proto";

message M {
  optional int32 a = 1 [
    (confluent.field_meta).doc = "d",
    deprecated = true
  ];
}
`)
  })
})

describe('a subject', () => {
  it('accepts only one schema type, unless its compatibility level is NONE', async () => {
    await post('/subjects/s/versions', { schema: '"int"' })
    expect(await registry.call('POST', '/subjects/s/versions', json({ type: 'number' }))).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('[Incompatible because of different schema type, ') },
    })
    await registry.call('PUT', '/config/s', { compatibility: 'NONE' })
    expect(await post('/subjects/s/versions', json({ type: 'number' }))).toMatchObject({ version: 2 })
  })
})
