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
