import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { RecordDecoder } from '../../src/records/record-decoder.ts'
import { createSerializer, type SchemaDefinition } from '../../src/serde/serde.ts'
import { startTestRegistry, type TestRegistry } from '../support/registry.ts'

let running: TestRegistry
let registry: RegistryClient
beforeAll(async () => {
  running = await startTestRegistry()
  registry = createRegistryClient({ url: running.url })
})
afterAll(() => running.stop())

const bytesOf = async (topic: string, schema: SchemaDefinition, value: unknown): Promise<Buffer> =>
  (await createSerializer({ registry: { url: running.url }, schema }).serialize(topic, value)) as Buffer

describe('a record with masked fields in its bytes', () => {
  const masks = (tags: readonly string[]) => tags.includes('PII')
  const STRINGS: SchemaDefinition = {
    type: 'AVRO',
    text: JSON.stringify({
      type: 'record',
      name: 'P',
      fields: [
        { name: 'id', type: 'long' },
        { name: 'ssn', type: ['null', 'string'], 'confluent:tags': ['PII'] },
      ],
    }),
  }
  const BIRTH: SchemaDefinition = {
    type: 'AVRO',
    text: JSON.stringify({
      type: 'record',
      name: 'Birth',
      fields: [{ name: 'year', type: 'int', 'confluent:tags': ['PII'] }],
    }),
  }
  const PROTO: SchemaDefinition = {
    type: 'PROTOBUF',
    text: `syntax = "proto3";
      import "confluent/meta.proto";
      message Order {
        int64 id = 1;
        string email = 2 [(confluent.field_meta).tags = "PII"];
        int32 age = 3 [(confluent.field_meta).tags = "PII"];
      }`,
  }
  const decoder = () => new RecordDecoder({ registry, masks })
  const maskedValue = async (value: Buffer | null) => {
    const masked = await decoder().mask({ key: null, value, headers: [] })
    return (await new RecordDecoder({ registry }).decode(masked)).value.value
  }

  it('has the same schema and the other fields, in Avro, Protobuf and JSON Schema', async () => {
    expect(await maskedValue(await bytesOf('strings', STRINGS, { id: 5n, ssn: '1' }))).toEqual({ id: 5, ssn: '***' })
    const proto = await bytesOf('proto', PROTO, { id: 5n, email: 'a@b', age: 7 })
    expect(await maskedValue(proto)).toEqual({ id: '5', email: '***', age: 0 })
    const tagged: SchemaDefinition = {
      type: 'JSON',
      text: JSON.stringify({ properties: { ssn: { type: 'string', 'confluent:tags': ['PII'] } } }),
    }
    expect(await maskedValue(await bytesOf('tagged-json', tagged, { id: 1, ssn: '1' }))).toEqual({ id: 1, ssn: '***' })
  })

  it('is the record itself if it has no such field, or no schema', async () => {
    for (const value of [Buffer.from('text'), null, await bytesOf('plain', { type: 'AVRO', text: '"string"' }, 'x')])
      expect((await decoder().mask({ key: null, value, headers: [] })).value).toBe(value)
  })

  it('keeps a schema id in a header', async () => {
    const bytes = await bytesOf('strings', STRINGS, { id: 5n, ssn: '1' })
    const headers = [['__value_schema_id', bytes.subarray(0, 5)]] as const
    const masked = await decoder().mask({ key: null, value: bytes.subarray(5), headers })
    expect((await new RecordDecoder({ registry }).decode(masked)).value.value).toMatchObject({ ssn: '***' })
  })

  it.each([
    ['a field of a type without ***', async () => bytesOf('birth', BIRTH, { year: 1815 }), "has no '***': Birth.year"],
    ['an unknown schema', async () => Buffer.of(0, 0, 1, 0, 0, 1), 'schema 65536'],
    [
      'data that does not match',
      async () => (await bytesOf('strings', STRINGS, { id: 5n, ssn: '12' })).subarray(0, 7),
      'does not match',
    ],
  ])('is refused for %s', async (_, bytes, message) => {
    await expect(decoder().mask({ key: null, value: await bytes(), headers: [] })).rejects.toThrow(message)
  })
})
