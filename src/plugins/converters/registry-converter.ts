import { BoundedMap, getOrFetch } from '../../clients/bounded-map.ts'
import { RequestError } from '../../clients/http-client.ts'
import type { RegistryClient } from '../../clients/registry-client.ts'
import type { FormatType, ParsedSchema, SchemaSource } from '../../formats/format.ts'
import { SchemaError } from '../../formats/schema-error.ts'
import { type ConverterInstance, DataError, type Schema, type SchemaAndValue } from '../../sdk/index.ts'
import { fetchRegisteredSchema, findWriteSchema, sourceOf, type WriteSchema } from '../../serde/schema-id.ts'
import { wrapRequestErrors } from '../../serde/serde-error.ts'
import { subjectNaming } from '../../serde/subject-name-strategy.ts'
import { bufferOf, type SchemaId, schemaIdOf } from '../../serde/wire-format.ts'
import { recordFailure, schemaIdOptions } from './registry-access.ts'
import type { ConverterRegistrySettings } from './registry-keys.ts'
import { subjectStrategy } from './subject-name-strategy-key.ts'

/** Writes the schema id and the value. */
export type WriteData = (value: unknown) => Buffer
/** Reads the bytes that follow the schema id, from the index `start`. */
export type ReadData = (bytes: Buffer, start: number) => SchemaAndValue

/** A schema format as used by a converter: maps Connect schemas and values to and from its own. */
export type SchemaData<Parsed extends ParsedSchema> = {
  /** Name of the converter, for messages. */
  readonly name: string
  readonly type: FormatType
  /** Whether a null with a schema is encoded in the format instead of becoming a tombstone. */
  readonly writesNulls?: boolean
  parse(source: SchemaSource, validation: 'strict' | 'loose'): Parsed
  /** Returns the schema text for a Connect schema. Throws a `DataError`. */
  toText(schema: Schema): string
  /** Returns a writer that encodes values of a Connect schema with a registered schema. */
  writer(schema: Schema, registered: WriteSchema<Parsed>): WriteData
  /** `version` is the schema's version in the topic's subject, or undefined if it is not registered there. */
  reader(parsed: Parsed, source: SchemaSource, version: number | undefined): ReadData
}

const NOTHING: SchemaAndValue = { schema: null, value: null }

/** The first record of a schema waits for the registry; later records are converted, or rejected, synchronously. */
export function createRegistryConverter<Parsed extends ParsedSchema>(
  registry: RegistryClient,
  settings: ConverterRegistrySettings,
  isKey: boolean,
  language: SchemaData<Parsed>,
): ConverterInstance {
  const strategy = subjectStrategy(settings[`${isKey ? 'key' : 'value'}.subject.name.strategy`])
  const subjectOf = subjectNaming(strategy, isKey)
  const writers = new WeakMap<Schema, Map<string, WriteData>>()
  const written = new BoundedMap<string, Promise<WriteSchema<Parsed>>>(settings['schemas.cache.config'])
  /** By topic, because a schema can have another version in the subject of each. */
  const readers = new Map<string, BoundedMap<SchemaId, ReadData>>()
  const readersOf = (topic: string): BoundedMap<SchemaId, ReadData> => {
    const known = readers.get(topic) ?? new BoundedMap<SchemaId, ReadData>(settings['schemas.cache.config'])
    readers.set(topic, known)
    return known
  }
  const parse = (source: SchemaSource, validation: 'strict' | 'loose') =>
    attempt(() => language.parse(source, validation))
  const idOptions = { ...schemaIdOptions(settings), parse }

  const openWriter = async (topic: string, schema: Schema): Promise<WriteData> => {
    const parsed = parse({ text: attempt(() => language.toText(schema)) }, 'strict')
    const subject = subjectOf(topic, parsed.name)
    const source = { type: language.type, text: parsed.canonical }
    const registered = await getOrFetch(written, `${subject} ${parsed.canonical}`, () =>
      findWriteSchema(registry, subject, { parsed, source }, idOptions),
    )
    const encode = attempt(() => language.writer(schema, registered))
    const write: WriteData = (value) => {
      try {
        return encode(value)
      } catch (error) {
        throw asDataError(error)
      }
    }
    const byTopic = writers.get(schema) ?? new Map<string, WriteData>()
    writers.set(schema, byTopic.set(topic, write))
    return write
  }

  const openReader = async (topic: string, id: SchemaId): Promise<ReadData> =>
    wrapRequestErrors(`schema ${id} of topic '${topic}'`, async () => {
      const found = await fetchRegisteredSchema(registry, id)
      const source = await sourceOf(registry, found)
      try {
        if (source.type !== language.type) {
          throw new DataError(`schema ${id} of topic '${topic}' is ${source.type}, not ${language.type}`)
        }
        const parsed = parse(source, 'loose')
        const known = await registry.lookup(subjectOf(topic, parsed.name), found).catch(absent)
        return readersOf(topic).set(
          id,
          attempt(() => language.reader(parsed, source, known?.version)),
        )
      } catch (error) {
        // The schema of an id does not change: its other records fail for the same reason, without requests.
        if (error instanceof DataError) readersOf(topic).set(id, failingReader(error))
        throw error
      }
    })

  return {
    fromConnect(topic, schema, value) {
      if (value === null || value === undefined) {
        if (isTombstone(schema, language.writesNulls)) return null
      }
      if (schema === null) throw new DataError(`${language.name} requires a schema: this record is schemaless`)
      const write = writers.get(schema)?.get(topic)
      return write ? write(value) : forRecord(async () => (await openWriter(topic, schema))(value))
    },
    toConnect(topic, bytes) {
      if (bytes === null) return NOTHING
      try {
        const framed = bufferOf(bytes)
        const { id, start } = schemaIdOf(framed)
        const read = readers.get(topic)?.get(id)
        if (read !== undefined) return read(framed, start)
        return forRecord(async () => {
          const opened = await openReader(topic, id)
          return attempt(() => opened(framed, start))
        })
      } catch (error) {
        throw asDataError(error)
      }
    },
  }
}

function failingReader(error: DataError): ReadData {
  return () => {
    throw error
  }
}

function isTombstone(schema: Schema | null, writesNulls = false): boolean {
  if (schema === null) return true
  if (!schema.optional && schema.default === undefined) throw new DataError('Found null value for non-optional schema')
  return schema.optional === true && !writesNulls
}

/** Returns undefined if the subject, or the schema in it, does not exist. Rethrows other errors. */
function absent(error: unknown): undefined {
  if (!(error instanceof RequestError && error.status === 404)) throw error
}

/** Converts a `SchemaError`, which is caused by a schema or value, to a `DataError`. */
function attempt<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    throw asDataError(error)
  }
}

function asDataError(error: unknown): unknown {
  return error instanceof SchemaError ? new DataError(error.message, { cause: error }) : recordFailure(error)
}

async function forRecord<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    throw recordFailure(error)
  }
}
