import { BoundedMap, getOrFetch } from '../clients/bounded-map.ts'
import type { Endpoint } from '../clients/http-client.ts'
import { createRegistryClient } from '../clients/registry-client.ts'
import type { FormatType, ParsedSchema } from '../formats/format.ts'
import { type DataCodec, loadSerdeFormat, type PayloadCodec } from './payload-codec.ts'
import { type EncryptionOptions, openDekStore } from './rules/encryption-options.ts'
import { openSchemaRules, type SchemaRules, type SubjectOfValue, type TransformFields } from './rules/schema-rules.ts'
import { resolveDefinition, type SchemaDefinition } from './schema-definition.ts'
import { fetchSchema, findWriteSchema, type SchemaIdPolicy, type SourcedSchema } from './schema-id.ts'
import { SerdeError, wrapRequestErrors, wrapSchemaErrors } from './serde-error.ts'
import { type SubjectNameStrategy, subjectNaming } from './subject-name-strategy.ts'
import { bufferOf, frame, type RecordHeaders, type SchemaId, unframeRecord } from './wire-format.ts'

// `weir/serde`: serializers and deserializers for Confluent's wire format with a schema registry.

export type { Endpoint } from '../clients/http-client.ts'
export type { Kms, KmsDriver, KmsKey, KmsParams } from '../encryption/kms.ts'
export type { EncryptionOptions } from './rules/encryption-options.ts'
export type { ReferenceDefinition, SchemaDefinition } from './schema-definition.ts'
export { SerdeError, type SerdeErrorCode } from './serde-error.ts'
export type { SubjectNameStrategy } from './subject-name-strategy.ts'
export type { RecordHeaders } from './wire-format.ts'

export type SerializerOptions = {
  readonly registry: Endpoint
  /** The schema to write with. Required unless the policy is `use-latest`. */
  readonly schema?: SchemaDefinition
  /** Default: `auto-register`. */
  readonly policy?: SchemaIdPolicy
  /** Whether to serialize keys, whose subjects differ from those of values. */
  readonly isKey?: boolean
  /** Default: `TopicName`. */
  readonly subjectName?: SubjectNameStrategy
  readonly normalize?: boolean
  /** With `use-latest`: reject a latest schema that is incompatible with `schema`. Default: true. */
  readonly strict?: boolean
  /** Protobuf: full name of the message to write. Default: the first message. */
  readonly message?: string
  /** JSON: validate values against the schema. Default: true. */
  readonly validate?: boolean
  /** Required for schemas with encryption rules. */
  readonly encryption?: EncryptionOptions
  /** Maximum number of cached subjects. Default: 1,000. */
  readonly subjectsMax?: number
}

export interface Serializer<Value = unknown> {
  /** Returns the bytes for Kafka. Null stays null (a tombstone). Rejects with a `SerdeError`. */
  serialize(topic: string, value: Value | null): Promise<Buffer | null>
}

export type DeserializerOptions = {
  readonly registry: Endpoint
  /** Whether to deserialize keys, whose schema id header differs from that of values. */
  readonly isKey?: boolean
  /** Avro: the reader's schema. Default: the writer's schema. */
  readonly readerSchema?: SchemaDefinition
  /** The only accepted format. Default: all formats. */
  readonly type?: FormatType
  /** JSON: validate values against the schema. Default: false, because the producer validates them. */
  readonly validate?: boolean
  /** Strategy of the writer's subject, for schemas with encryption rules. Default: `TopicName`. */
  readonly subjectName?: SubjectNameStrategy
  /** Required for schemas with encryption rules. */
  readonly encryption?: EncryptionOptions
  /** Maximum number of cached schemas. Default: 1,000. */
  readonly schemasMax?: number
}

export interface Deserializer<Value = unknown> {
  /**
   * `headers` are those of the record, which may contain the schema id. `topic` is required if the schema has
   * encryption rules, because their keys belong to the subject. Rejects with a `SerdeError`.
   */
  deserialize(bytes: Uint8Array | null, headers?: RecordHeaders, topic?: string): Promise<Value | null>
}

/** The application's schema, with references resolved. */
type OwnSchema = { readonly source: SourcedSchema; readonly parsed: ParsedSchema; readonly codec: DataCodec }
type Write = (value: unknown) => Buffer | Promise<Buffer>
type Read = (data: Buffer, topic: string | undefined) => unknown

/** The first value of a topic waits for the registry; later values use the cache. */
export function createSerializer<Value = unknown>(options: SerializerOptions): Serializer<Value> {
  const registry = createRegistryClient(options.registry)
  const { schema, policy = 'auto-register', normalize = false, strict = true, message, validate = true } = options
  if (schema === undefined && policy !== 'use-latest') {
    throw new SerdeError('invalid_schema', `the policy ${policy} requires a schema`)
  }
  const subjectOf = subjectNaming(options.subjectName ?? 'TopicName', options.isKey ?? false)
  const ownSchemas = new BoundedMap<SchemaDefinition, Promise<OwnSchema>>(1)
  const writers = new BoundedMap<string, Promise<Write>>(options.subjectsMax ?? 1_000)
  const deks = openDekStore(options.registry, options.encryption)
  const loadOwnSchema = async () => schema && getOrFetch(ownSchemas, schema, () => openOwnSchema(schema))

  async function openOwnSchema(definition: SchemaDefinition): Promise<OwnSchema> {
    const source = await resolveDefinition(registry, definition, { policy, normalize })
    const format = await loadSerdeFormat(definition.type)
    const parsed = format.parse(source, 'strict')
    return { source, parsed, codec: format.codec(source, { message, validate }) }
  }

  async function openWriter(subject: string, own: OwnSchema | undefined): Promise<Write> {
    const written = await findWriteSchema(registry, subject, own, { policy, normalize, strict, parse })
    const { id, source } = written
    const codec =
      source === own?.source ? own.codec : (await loadSerdeFormat(source.type)).codec(source, { message, validate })
    // The registry may have added rules to the schema. Readers apply the stored rules, so the writer must too.
    const stored = written.stored ?? (await wrapRequestErrors(`schema ${id}`, () => registry.byId(id, subject)))
    const rules = openSchemaRules(stored, 'WRITE', deks)
    const encode = (value: unknown) => wrapSchemaErrors('invalid_data', () => codec.encode(value))
    if (rules === undefined) return (value) => frame(id, codec.head, encode(value))
    return async (value) => {
      const ruled = await rules.transformValue(value, () => subject, fieldsOf(codec))
      return frame(id, codec.head, await rules.transformPayload(bufferOf(encode(ruled)), () => subject))
    }
  }

  return {
    async serialize(topic, value) {
      if (value === null) return null
      const own = await loadOwnSchema()
      const subject = subjectOf(topic, message ?? own?.codec.recordName)
      const write = await getOrFetch(writers, subject, () => openWriter(subject, own))
      return write(value)
    },
  }
}

/** The first value of a schema waits for the registry; later values use the cache. */
export function createDeserializer<Value = unknown>(options: DeserializerOptions): Deserializer<Value> {
  const registry = createRegistryClient(options.registry)
  const { readerSchema, type, validate = false, isKey = false } = options
  const readers = new BoundedMap<SchemaId, Promise<Read>>(options.schemasMax ?? 1_000)
  const deks = openDekStore(options.registry, options.encryption)
  const subjectName = options.subjectName ?? 'TopicName'
  const subjectOf = subjectNaming(subjectName, isKey)

  function subjectFor(topic: string | undefined, recordName: string | undefined): string {
    if (topic !== undefined || subjectName === 'RecordName') return subjectOf(topic ?? '', recordName)
    throw new SerdeError(
      'no_topic',
      'the schema has rules that decrypt: give the topic to deserialize(), after the headers',
    )
  }

  async function openReader(id: SchemaId): Promise<Read> {
    const source = await fetchSchema(registry, id)
    if (type !== undefined && source.type !== type) {
      throw new SerdeError('wrong_format', `schema ${id} is ${source.type}, not ${type}`)
    }
    const reader =
      readerSchema && (await resolveDefinition(registry, readerSchema, { policy: 'look-up', normalize: false }))
    const codec = (await loadSerdeFormat(source.type)).codec(source, { readerSchema: reader, validate })
    const rules = openSchemaRules(source, 'READ', deks)
    return (data, topic) => {
      const opened = wrapSchemaErrors('invalid_data', () => codec.split(data))
      if (rules === undefined) return wrapSchemaErrors('invalid_data', () => opened.codec.decode(opened.payload))
      return readRuled(rules, opened, () => subjectFor(topic, codec.recordName))
    }
  }

  return {
    async deserialize(bytes, headers = {}, topic) {
      if (bytes === null) return null
      const { id, data } = unframeRecord(bytes, headers, isKey)
      const read = await getOrFetch(readers, id, () => openReader(id))
      return read(data, topic) as Value
    },
  }
}

type Opened = { readonly payload: Buffer; readonly codec: PayloadCodec }

async function readRuled(rules: SchemaRules, { payload, codec }: Opened, subject: SubjectOfValue): Promise<unknown> {
  const plain = await rules.transformPayload(payload, subject)
  const written = wrapSchemaErrors('invalid_data', () => codec.decodeWritten(plain))
  const ruled = await rules.transformValue(written, subject, fieldsOf(codec))
  return wrapSchemaErrors('invalid_data', () => codec.resolve(ruled))
}

function fieldsOf(codec: PayloadCodec): TransformFields {
  return (value, transform) => wrapSchemaErrors('invalid_data', () => codec.transformFields(value, transform))
}

async function parse(source: SourcedSchema, validation: 'strict' | 'loose'): Promise<ParsedSchema> {
  return (await loadSerdeFormat(source.type)).parse(source, validation)
}
