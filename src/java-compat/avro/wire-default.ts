import { type AvroSchema, branchName } from '../../formats/avro/avro-schema.ts'
import { isObject, type Json, JsonNumber } from '../../formats/json-text.ts'
import { DataError, int64 } from '../../sdk/index.ts'

/**
 * Converts a default in an Avro schema to the form that the codec uses. A union's default has the type of its first
 * branch.
 */
export function wireDefault(avro: AvroSchema, json: Json): unknown {
  switch (avro.type) {
    case 'union':
      return unionDefault(avro.branches[0], json)
    case 'record':
      return recordDefault(avro, json)
    case 'array':
      return Array.isArray(json) ? (json as readonly Json[]).map((item) => wireDefault(avro.items, item)) : misfit(avro)
    case 'map':
      if (!isObject(json)) return misfit(avro)
      return Object.fromEntries([...json].map(([key, item]) => [key, wireDefault(avro.values, item)]))
    case 'bytes':
    case 'fixed':
      return typeof json === 'string' ? Buffer.from(json, 'latin1') : misfit(avro)
    default:
      return scalarDefault(avro, json)
  }
}

function scalarDefault(avro: AvroSchema, json: Json): unknown {
  if (!(json instanceof JsonNumber)) return json
  return avro.type === 'long' && json.isInteger ? int64(BigInt(json.literal)) : json.value
}

function unionDefault(first: AvroSchema | undefined, json: Json): unknown {
  if (first === undefined || first.type === 'null' || json === null) return null
  return { [branchName(first)]: wireDefault(first, json) }
}

function recordDefault(avro: AvroSchema & { type: 'record' }, json: Json): unknown {
  if (!isObject(json)) return misfit(avro)
  return Object.fromEntries(
    avro.fields.map((field) => [field.name, wireDefault(field.schema, json.get(field.name) ?? field.default ?? null)]),
  )
}

function misfit(avro: AvroSchema): never {
  throw new DataError(`the default value is not valid for the Avro type ${avro.type}`)
}
