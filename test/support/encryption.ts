import { randomUUID } from 'node:crypto'
import type { SchemaRuleSet } from '../../src/clients/registry-client.ts'
import {
  createDeserializer,
  createSerializer,
  type DeserializerOptions,
  type EncryptionOptions,
  type SchemaDefinition,
  type SerializerOptions,
} from '../../src/serde/serde.ts'

/** The secret of the local KMS in tests. */
export const SECRET: EncryptionOptions = { params: { secret: 'mysecret' } }

/** Creates serializers and deserializers of one registry that have the secret. */
export function encryptingSerde(url: () => string) {
  return {
    serializer: (options: Omit<SerializerOptions, 'registry'>) =>
      createSerializer({ registry: { url: url() }, encryption: SECRET, ...options }),
    deserializer: (options: Omit<DeserializerOptions, 'registry'> = {}) =>
      createDeserializer({ registry: { url: url() }, encryption: SECRET, ...options }),
  }
}

/** A rule set that encrypts fields with the tag PII, with a new KEK for each rule set. */
export function encryptRules(change: Record<string, unknown> = {}, params: Record<string, string> = {}): SchemaRuleSet {
  const rule = {
    name: 'encryptPII',
    kind: 'TRANSFORM',
    mode: 'WRITEREAD',
    type: 'ENCRYPT',
    tags: ['PII'],
    params: {
      'encrypt.kek.name': `kek-${randomUUID()}`,
      'encrypt.kms.type': 'local-kms',
      'encrypt.kms.key.id': 'mykey',
      ...params,
    },
    ...change,
  }
  return { domainRules: [rule] }
}

/** The property that adds the tag PII to an Avro or JSON field. */
export const pii = { 'confluent:tags': ['PII'] }

export const avroWithRules = (ruleSet: SchemaRuleSet, schema: object): SchemaDefinition => ({
  type: 'AVRO',
  text: JSON.stringify(schema),
  ruleSet,
})

/** The ciphertext in the first field of an Avro record, a short string after the 5-byte frame and one length byte. */
export function firstField(bytes: Buffer | null): Buffer {
  return Buffer.from(bytes!.toString('latin1', 6, 6 + bytes![5]! / 2), 'base64')
}
