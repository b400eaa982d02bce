import { BoundedMap, shared } from '../../../clients/bounded-map.ts'
import { RequestError } from '../../../clients/http.ts'
import type { RegistryClient } from '../../../clients/registry.ts'
import { avroFormat, type ParsedAvro } from '../../../formats/avro/avro.ts'
import { avroCodec } from '../../../formats/avro/codec.ts'
import { SchemaError, type SchemaSource } from '../../../formats/format.ts'
import { type ConverterInstance, DataError, type Schema, type SchemaAndValue } from '../../../sdk/index.ts'
import { asked } from '../../../serde/error.ts'
import { findWriteSchema, schemaOf, sourceOf, type WriteSchema } from '../../../serde/schema-id.ts'
import { type SubjectOf, subjectNaming } from '../../../serde/subject-name.ts'
import { frame, type SchemaId, unframe } from '../../../serde/wire-format.ts'
import { recordFailure, schemaIdOptions } from '../registry-access.ts'
import { subjectStrategy } from '../subject.ts'
import type { AvroConverterSettings } from './converter.ts'
import { avroEncoder } from './encoder.ts'
import { fromAvro } from './from-avro.ts'
import { toAvroText } from './to-avro.ts'

type Write = (value: unknown) => Buffer
type Read = (data: Buffer) => SchemaAndValue

const NOTHING: SchemaAndValue = { schema: null, value: null }

/** The first record of a schema waits for the registry; from then on only the codec works. */
export function createAvroInstance(
  registry: RegistryClient,
  settings: AvroConverterSettings,
  isKey: boolean,
): ConverterInstance {
  const strategy = subjectStrategy(settings[`${isKey ? 'key' : 'value'}.subject.name.strategy`])
  const subjectOf = subjectNaming(strategy, isKey)
  const writers = new WeakMap<Schema, Map<string, Write>>()
  const written = new BoundedMap<string, Promise<WriteSchema<ParsedAvro>>>(settings['schemas.cache.config'])
  const readers = new BoundedMap<SchemaId, Read>(settings['schemas.cache.config'])
  const options = { metadata: settings['connect.meta.data'], enums: settings['enhanced.avro.schema.support'] }
  const idOptions = { ...schemaIdOptions(settings), parse }

  const openWriter = async (topic: string, schema: Schema): Promise<Write> => {
    const parsed = parse({ text: toAvroText(schema, options) }, 'strict')
    const subject = subjectOf(topic, parsed.name)
    const source = { type: 'AVRO', text: parsed.canonical } as const
    const { id, parsed: avro } = await shared(written, `${subject} ${parsed.canonical}`, () =>
      findWriteSchema(registry, subject, { parsed, source }, idOptions),
    )
    const encode = avroEncoder(schema, avro.schema)
    const codec = avroCodec(avro.schema)
    const write: Write = (value) =>
      frame(
        id,
        attempt(() => codec.encode(encode(value))),
      )
    const byTopic = writers.get(schema) ?? new Map<string, Write>()
    writers.set(schema, byTopic.set(topic, write))
    return write
  }

  const openReader = async (topic: string, id: SchemaId): Promise<Read> => {
    const { avro, version } = await fetched(registry, subjectOf, topic, id)
    const { schema, decode } = fromAvro(avro.schema, { ...options, version })
    const codec = avroCodec(avro.schema)
    return readers.set(id, (data) => ({ schema, value: decode(attempt(() => codec.decode(data))) }))
  }

  return {
    fromConnect(topic, schema, value) {
      if (value === null || value === undefined) {
        if (schema === null || schema.default === undefined) return nothing(schema)
      }
      if (schema === null) throw new DataError('AvroConverter needs a schema: this record is schemaless')
      const write = writers.get(schema)?.get(topic)
      return write ? write(value) : forRecord(async () => (await openWriter(topic, schema))(value))
    },
    toConnect(topic, bytes) {
      if (bytes === null) return NOTHING
      const { id, data } = attempt(() => unframe(bytes))
      const read = readers.get(id)
      return read ? read(data) : forRecord(async () => (await openReader(topic, id))(data))
    },
  }
}

function nothing(schema: Schema | null): null {
  if (schema === null || schema.optional) return null
  throw new DataError('Found null value for non-optional schema')
}

/** The schema of an id, and its version in the topic's subject where it is known there. */
async function fetched(registry: RegistryClient, subjectOf: SubjectOf, topic: string, id: SchemaId) {
  return asked(`schema ${id} of topic '${topic}'`, async () => {
    const found = await schemaOf(registry, id)
    const source = await sourceOf(registry, found)
    if (source.type !== 'AVRO') throw new DataError(`schema ${id} of topic '${topic}' is ${source.type}, not AVRO`)
    const avro = parse(source, 'loose')
    const registered = await registry.lookup(subjectOf(topic, avro.name), found).catch(absent)
    return { avro, version: registered?.version }
  })
}

/** The subject or the schema in it is not there: what was asked has no answer, and none is needed. */
function absent(error: unknown): undefined {
  if (!(error instanceof RequestError && error.status === 404)) throw error
}

function parse(source: SchemaSource, validation: 'strict' | 'loose'): ParsedAvro {
  return attempt(() => avroFormat.parse(source, { validation }) as ParsedAvro)
}

/** A schema or a value that Avro refuses is wrong data, not a wrong program. */
function attempt<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof SchemaError) throw new DataError(error.message, { cause: error })
    throw recordFailure(error)
  }
}

async function forRecord<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw recordFailure(error)
  }
}
