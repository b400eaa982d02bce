import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SchemaDefinition } from '../../../src/serde/serde.ts'
import { encryptingSerde, encryptRules, pii } from '../../support/encryption.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let running: TestRegistry
beforeAll(async () => {
  running = await startTestRegistry()
})
afterAll(() => running.stop())

const { serializer, deserializer } = encryptingSerde(() => running.url)

const AVRO = {
  type: 'record',
  name: 'Customer',
  namespace: 'shop',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'email', type: 'string', ...pii },
    { name: 'photo', type: ['null', 'bytes'], default: null, ...pii },
    { name: 'phones', type: { type: 'array', items: 'string' }, default: [], ...pii },
    { name: 'keys', type: { type: 'map', values: 'string' }, default: {}, ...pii },
    {
      name: 'home',
      type: ['null', { type: 'record', name: 'Address', fields: [{ name: 'street', type: 'string', ...pii }] }],
      default: null,
    },
    // A union of branches with the same JavaScript type.
    {
      name: 'login',
      type: ['null', 'string', { type: 'enum', name: 'Known', symbols: ['NONE'] }],
      default: null,
      ...pii,
    },
    { name: 'note', type: ['null', 'string'], default: null },
  ],
}
const CUSTOMER = {
  id: 7,
  email: 'ada@example.com',
  photo: Buffer.from('a photo of Ada'),
  phones: ['+49 1', '+49 2'],
  keys: { front: 'under the mat' },
  home: { street: 'Long Lane 1' },
  login: { string: 'ada-login' },
  note: 'likes tea',
}
const SECRETS = ['ada@example.com', 'a photo of Ada', '+49 1', '+49 2', 'under the mat', 'Long Lane 1', 'ada-login']
const JSON_SCHEMA = {
  title: 'Customer',
  type: 'object',
  definitions: { address: { type: 'object', properties: { street: { type: 'string', ...pii } } } },
  properties: {
    id: { type: 'integer' },
    email: { type: ['null', 'string'], ...pii },
    phones: { type: 'array', items: { type: 'string' }, ...pii },
    home: { $ref: '#/definitions/address' },
    login: { oneOf: [{ type: 'null' }, { type: 'string' }], ...pii },
    card: { allOf: [{ type: 'object', properties: { number: { type: 'string', ...pii } } }] },
    note: { type: 'string' },
  },
}
const JSON_CUSTOMER = {
  id: 7,
  email: 'ada@example.com',
  phones: ['+49 1', '+49 2'],
  home: { street: 'Long Lane 1' },
  login: 'ada-login',
  card: { number: '4111' },
  note: 'likes tea',
}
const PROTOBUF = `syntax = "proto3";
  package shop;
  import "confluent/meta.proto";
  message Customer {
    int64 id = 1;
    string email = 2 [(confluent.field_meta).tags = "PII"];
    bytes photo = 3 [(confluent.field_meta) = { tags: ["PII"] }];
    repeated string phones = 4 [(confluent.field_meta).tags = "PII"];
    oneof login { string name = 5 [(confluent.field_meta).tags = "PII"]; int32 number = 6; }
    Address home = 7;
    map<string, Address> others = 8;
    optional string nick = 9 [(confluent.field_meta).tags = "PII"];
    string note = 10;
    message Address { string street = 1 [(confluent.field_meta).tags = "PII"]; }
  }`
const PROTO_CUSTOMER = {
  id: 7n,
  email: 'ada@example.com',
  photo: Buffer.from('a photo of Ada'),
  phones: ['+49 1', '+49 2'],
  login: { case: 'name', value: 'ada-login' },
  home: { street: 'Long Lane 1' },
  others: { work: { street: 'Short Street 2' } },
  note: 'likes tea',
}

const FORMATS: readonly [string, SchemaDefinition, object, readonly string[]][] = [
  ['Avro', { type: 'AVRO', text: JSON.stringify(AVRO) }, CUSTOMER, SECRETS],
  [
    'JSON Schema',
    { type: 'JSON', text: JSON.stringify(JSON_SCHEMA) },
    JSON_CUSTOMER,
    ['ada@example.com', '+49 1', '+49 2', 'Long Lane 1', 'ada-login', '4111'],
  ],
  [
    'Protobuf',
    { type: 'PROTOBUF', text: PROTOBUF },
    PROTO_CUSTOMER,
    [...SECRETS.filter((one) => one !== 'under the mat'), 'Short Street 2'],
  ],
]

describe.each(FORMATS)('%s', { tags: ['slow'] }, (_, schema, value, secrets) => {
  it.each(['AES128_GCM', 'AES256_GCM', 'AES256_SIV'])('encrypts only tagged fields, with %s', async (algorithm) => {
    const topic = randomUUID()
    const ruleSet = encryptRules({}, { 'encrypt.dek.algorithm': algorithm })
    const before = inspect(value, { depth: null })
    const bytes = await serializer({ schema: { ...schema, ruleSet } }).serialize(topic, value)
    expect(inspect(value, { depth: null })).toBe(before)
    for (const secret of secrets) expect(bytes?.includes(secret)).toBe(false)
    expect(bytes?.includes('likes tea')).toBe(true)
    expect(await deserializer({ validate: true }).deserialize(bytes, {}, topic)).toMatchObject(value)
  })

  it('encrypts the whole payload with an encoding rule', async () => {
    const topic = randomUUID()
    const [rule] = encryptRules({ type: 'ENCRYPT_PAYLOAD', tags: undefined }).domainRules!
    const ruleSet = { encodingRules: [rule!] }
    const bytes = await serializer({ schema: { ...schema, ruleSet } }).serialize(topic, value)
    for (const secret of [...secrets, 'likes tea']) expect(bytes?.includes(secret)).toBe(false)
    expect(await deserializer().deserialize(bytes, {}, topic)).toMatchObject(value)
  })

  it('cannot be decrypted with another secret or without one', async () => {
    const topic = randomUUID()
    const bytes = await serializer({ schema: { ...schema, ruleSet: encryptRules() } }).serialize(topic, value)
    for (const params of [{ secret: 'wrong' }, {}]) {
      const reading = deserializer({ encryption: { params } }).deserialize(bytes, {}, topic)
      await expect(reading).rejects.toMatchObject({ code: 'rule_failed', cause: { code: 'kms_failed' } })
    }
  })
})
