import { BoundedMap, getOrFetch } from '../clients/bounded-map.ts'
import type { Endpoint } from '../clients/http.ts'
import { createRegistryClient } from '../clients/registry.ts'
import type { ParsedSchema, SchemaType } from '../formats/format.ts'
import { type DataCodec, loadLanguage } from './codec.ts'
import { type SchemaDefinition, settleDefinition } from './definition.ts'
import { checked, SerdeError } from './error.ts'
import { fetchSchema, findWriteSchema, type SchemaIdPolicy, type SourcedSchema } from './schema-id.ts'
import { type SubjectNameStrategy, subjectNaming } from './subject-name.ts'
import { frame, type RecordHeaders, type SchemaId, unframe, unframeHeader } from './wire-format.ts'

// What `weir/serde` is: values to bytes in Confluent's wire format and back, with their schemas in a registry.

export type { Endpoint } from '../clients/http.ts'
export type { ReferenceDefinition, SchemaDefinition } from './definition.ts'
export { SerdeError, type SerdeErrorCode } from './error.ts'
export type { SubjectNameStrategy } from './subject-name.ts'
export type { RecordHeaders } from './wire-format.ts'

export type SerializerOptions = {
  readonly registry: Endpoint
  /** What is written. Only with the policy `use-latest` it may be absent. */
  readonly schema?: SchemaDefinition
  /** Default `auto-register`. */
  readonly policy?: SchemaIdPolicy
  /** Whether it writes keys, which have subjects of their own. */
  readonly isKey?: boolean
  /** Default `TopicName`. */
  readonly subjectName?: SubjectNameStrategy
  readonly normalize?: boolean
  /** With `use-latest`: refuse a latest schema that can't read what ours writes. Default true. */
  readonly strict?: boolean
  /** Protobuf: full name of the message that is written. Default: the first one. */
  readonly message?: string
  /** JSON: refuse values that the schema does. Default true. */
  readonly validate?: boolean
  /** How many subjects are remembered. Default 1,000. */
  readonly subjectsMax?: number
}

export interface Serializer<Value = unknown> {
  /** What Kafka gets; null, which deletes, stays null. Rejects with a `SerdeError`. */
  serialize(topic: string, value: Value | null): Promise<Buffer | null>
}

export type DeserializerOptions = {
  readonly registry: Endpoint
  /** Whether it reads keys: their schemas stand in another header. */
  readonly isKey?: boolean
  /** Avro: what values are read as, whatever they were written as. */
  readonly readerSchema?: SchemaDefinition
  /** The only format that is taken. Default: each. */
  readonly type?: SchemaType
  /** JSON: refuse values that the schema does. Default false: who wrote them had to. */
  readonly validate?: boolean
  /** How many schemas are remembered. Default 1,000. */
  readonly schemasMax?: number
}

export interface Deserializer<Value = unknown> {
  /** `headers`: those of the record, where its schema may stand. Rejects with a `SerdeError`. */
  deserialize(bytes: Uint8Array | null, headers?: RecordHeaders): Promise<Value | null>
}

/** Our schema, as the registry knows it. */
type Own = { readonly source: SourcedSchema; readonly parsed: ParsedSchema; readonly codec: DataCodec }
type Write = (value: unknown) => Buffer
type Read = (data: Buffer) => unknown

/** The first value of a topic waits for the registry; later ones only for the codec. */
export function createSerializer<Value = unknown>(options: SerializerOptions): Serializer<Value> {
  const registry = createRegistryClient(options.registry)
  const { schema, policy = 'auto-register', normalize = false, strict = true, message, validate = true } = options
  if (schema === undefined && policy !== 'use-latest') {
    throw new SerdeError('invalid_schema', `the policy ${policy} needs a schema`)
  }
  const subjectOf = subjectNaming(options.subjectName ?? 'TopicName', options.isKey ?? false)
  const owns = new BoundedMap<SchemaDefinition, Promise<Own>>(1)
  const writers = new BoundedMap<string, Promise<Write>>(options.subjectsMax ?? 1_000)
  const own = async () => schema && getOrFetch(owns, schema, () => openOwn(schema))

  async function openOwn(definition: SchemaDefinition): Promise<Own> {
    const source = await settleDefinition(registry, definition, { policy, normalize })
    const language = await loadLanguage(definition.type)
    const parsed = language.parse(source, 'strict')
    return { source, parsed, codec: language.codec(source, { message, validate }) }
  }

  async function openWriter(subject: string, ours: Own | undefined): Promise<Write> {
    const { id, source } = await findWriteSchema(registry, subject, ours, { policy, normalize, strict, parse })
    const codec =
      source === ours?.source ? ours.codec : (await loadLanguage(source.type)).codec(source, { message, validate })
    return (value) => frame(id, codec.encode(value))
  }

  return {
    async serialize(topic, value) {
      if (value === null) return null
      const ours = await own()
      const subject = subjectOf(topic, message ?? ours?.codec.recordName)
      const write = await getOrFetch(writers, subject, () => openWriter(subject, ours))
      return checked('invalid_data', () => write(value))
    },
  }
}

/** The first value of a schema waits for the registry; later ones only for the codec. */
export function createDeserializer<Value = unknown>(options: DeserializerOptions): Deserializer<Value> {
  const registry = createRegistryClient(options.registry)
  const { readerSchema, type, validate = false, isKey = false } = options
  const readers = new BoundedMap<SchemaId, Promise<Read>>(options.schemasMax ?? 1_000)

  async function openReader(id: SchemaId): Promise<Read> {
    const source = await fetchSchema(registry, id)
    if (type !== undefined && source.type !== type) {
      throw new SerdeError('wrong_format', `schema ${id} is ${source.type}, not ${type}`)
    }
    const reader =
      readerSchema && (await settleDefinition(registry, readerSchema, { policy: 'look-up', normalize: false }))
    const codec = (await loadLanguage(source.type)).codec(source, { reader, validate })
    return (data) => codec.decode(data)
  }

  return {
    async deserialize(bytes, headers = {}) {
      if (bytes === null) return null
      const { id, data } = framed(bytes, unframeHeader(headers, isKey))
      const read = await getOrFetch(readers, id, () => openReader(id))
      return checked('invalid_data', () => read(data)) as Value
    },
  }
}

/** What the header says of the schema, and of the message, comes before what the bytes say: they are bare then. */
function framed(bytes: Uint8Array, head: ReturnType<typeof unframeHeader>): ReturnType<typeof unframe> {
  return head ? { id: head.id, data: Buffer.concat([head.data, bytes]) } : unframe(bytes)
}

async function parse(source: SourcedSchema, validation: 'strict' | 'loose'): Promise<ParsedSchema> {
  return (await loadLanguage(source.type)).parse(source, validation)
}
