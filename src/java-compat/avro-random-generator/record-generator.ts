import { AvroParser } from '../../formats/avro/parser.ts'
import type { Schema } from '../../sdk/index.ts'
import { fromAvro } from '../avro/from-avro.ts'
import { avroGenerator } from './generator.ts'
import type { Random } from './random.ts'

/** A sequence of generated records of one schema. `index` counts from 0. */
export type RecordGenerator = {
  readonly schema: Schema
  readonly keySchema: Schema | null
  record(index: number, random: Random): { readonly key: unknown; readonly value: Readonly<Record<string, unknown>> }
}

/**
 * Creates a generator for an Avro schema; `keyField` is the field to use as the key. Throws an `Error` if either is not
 * valid.
 */
export function createRecordGenerator(avroText: string, keyField: string): RecordGenerator {
  const avro = new AvroParser(true).parse(avroText)
  if (avro.type !== 'record') throw new Error(`the schema must be a record, not ${avro.type}`)
  const { schema } = fromAvro(avro, { metadata: false })
  const generate = avroGenerator(avro, avro.name.simple)
  const field = schema.fields?.find(({ name }) => name === keyField)
  if (keyField !== '' && field === undefined) {
    const names = avro.fields.map(({ name }) => name).join(', ')
    throw new Error(`${avro.name.full} has no field '${keyField}'; its fields are ${names}`)
  }
  return {
    schema,
    keySchema: field?.schema ?? null,
    record(index, random) {
      const value = generate(random, index) as Readonly<Record<string, unknown>>
      return { key: value[keyField] ?? null, value }
    },
  }
}
