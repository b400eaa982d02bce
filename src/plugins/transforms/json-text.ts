import { parseExact, plainValue } from '../../java-compat/json/connect-json-reader.ts'
import { jsonWriter, plainJson } from '../../java-compat/json/connect-json-writer.ts'
import { toBuffer } from '../../sdk/bytes.ts'
import { array, DataError, type Field, field, OPTIONAL_STRING, type Schema, valueLabel, z } from '../../sdk/index.ts'
import { inferredJson } from './inferred-json.ts'
import { type Side, sideTransforms } from './key-value-transforms.ts'
import { basicsOf, type Members, oncePerSchema, requireObject, requireStruct, structOf } from './struct-access.ts'

/** Schema for an empty list, whose item type is unknown. */
const EMPTY_LIST: Schema = { ...array(OPTIONAL_STRING), optional: true }

const fields = (what: string) =>
  field.list({ doc: `${what} Default: the whole key or value.`, importance: 'HIGH' }).default([])

/** Parses JSON strings. */
export const jsonParse = sideTransforms({
  name: 'JsonParse',
  isOwn: true,
  summary: 'Parses JSON strings: the whole key or value, or some of its fields.',
  notes: `
Accepts strings and bytes. A whole key or value becomes schemaless data. A field of a struct gets a schema that is inferred from its
data, in which everything is optional; members that are null are omitted. Text that is not valid JSON is an error of the record, which is
handled according to \`errors.tolerance\`.
`,
  config: z.object({ fields: fields('Names of the fields that contain JSON.') }),
  create({ fields: names }) {
    const wanted = new Set(names)
    const extended = oncePerSchema(() => new Map<string, Schema>())
    return (side) => {
      const { schema, value } = side
      if (value === null || value === undefined) return side
      if (wanted.size === 0) return { schema: null, value: plainValue(parsed(textOf(value))) }
      if (schema === null) {
        return {
          schema,
          value: changed(requireObject(value, 'JSON'), wanted, (text) => plainValue(parsed(textOf(text)))),
        }
      }
      const struct = requireStruct(value, schema, 'JSON')
      const inner = new Map(
        names.flatMap((name) =>
          struct[name] ? [[name, inferredJson(name, textOf(struct[name]), 'ignore')] as const] : [],
        ),
      )
      const schemas = new Map(
        [...inner].map(([name, data]) => [name, data.schema ?? (data.value === null ? OPTIONAL_STRING : EMPTY_LIST)]),
      )
      return {
        schema: knownStruct(schema, schemas, extended(schema)),
        value: { ...struct, ...Object.fromEntries([...inner].map(([name, data]) => [name, data.value])) },
      }
    }
  },
})

/** Serializes values to JSON strings. */
export const jsonStringify = sideTransforms({
  name: 'JsonStringify',
  isOwn: true,
  summary: 'Serializes data to JSON strings: the whole key or value, or some of its fields.',
  notes: 'The format is that of `JsonConverter` with `schemas.enable=false`. Null remains null.',
  config: z.object({ fields: fields('Names of the fields to serialize.') }),
  create({ fields: names }) {
    const wanted = new Set(names)
    const writer = oncePerSchema((schema) => jsonWriter(schema, { decimals: 'NUMERIC', nullsToDefaults: true }))
    const written = (value: unknown, schema: Schema | null) =>
      schema === null ? plainJson(value) : writer(schema)(value)
    const texts = oncePerSchema((schema) =>
      withFields(schema, (one) => (wanted.has(one.name) ? OPTIONAL_STRING : one.schema)),
    )
    return (side): Side => {
      const { schema, value } = side
      if (value === null || value === undefined) return side
      if (wanted.size === 0) return { schema: OPTIONAL_STRING, value: written(value, schema) }
      if (schema === null) {
        return { schema, value: changed(requireObject(value, 'JSON'), wanted, (member) => written(member, null)) }
      }
      const struct = requireStruct(value, schema, 'JSON')
      const schemas = new Map((schema.fields ?? []).map((one) => [one.name, one.schema]))
      return {
        schema: texts(schema),
        value: changed(struct, wanted, (member, name) => written(member, schemas.get(name) ?? null)),
      }
    }
  },
})

/** Applies `change` to the wanted members that are not null. */
function changed(
  members: Members,
  wanted: ReadonlySet<string>,
  change: (value: unknown, name: string) => unknown,
): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      wanted.has(name) && value !== null && value !== undefined ? change(value, name) : value,
    ]),
  )
}

function withFields(schema: Schema, change: (one: Field) => Schema): Schema {
  const changedFields = (schema.fields ?? []).map((one) => ({ name: one.name, schema: change(one) }))
  const struct = structOf(basicsOf(schema), changedFields)
  return schema.optional ? { ...struct, optional: true } : struct
}

/** Schemas of parsed data are cached, so their texts identify the struct schema that contains them. */
function knownStruct(schema: Schema, inner: ReadonlyMap<string, Schema>, made: Map<string, Schema>): Schema {
  const key = JSON.stringify([...inner])
  const found = made.get(key) ?? withFields(schema, (one) => inner.get(one.name) ?? one.schema)
  if (made.size < SHAPES_MAX) made.set(key, found)
  return found
}

const SHAPES_MAX = 1_000

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Uint8Array) return toBuffer(value).toString()
  throw new DataError(`expected a JSON text, got ${valueLabel(value)}`)
}

function parsed(text: string) {
  try {
    return parseExact(text)
  } catch (error) {
    throw new DataError(`invalid JSON: ${(error as Error).message}`, { cause: error })
  }
}
