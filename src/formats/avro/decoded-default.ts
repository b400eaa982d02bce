import { defineMember } from '../define-member.ts'
import { isObject, type Json, JsonNumber, printJson } from '../json-text.ts'
import { SchemaError } from '../schema-error.ts'
import type { AvroField, AvroRecord, AvroSchema } from './avro-schema.ts'
import { defaultFits } from './default-value.ts'
import { printAvro } from './printer.ts'
import { branchWrapper, type UnionForm } from './union-form.ts'

const NOTHING_OPEN: ReadonlySet<AvroSchema> = new Set()

/**
 * Returns the default of a field in the form of decoded values. The result is not shared: call it for each value. Throws a
 * `SchemaError` if the default does not match the schema.
 */
export function decodedDefault(schema: AvroSchema, json: Json, unions: UnionForm): unknown {
  switch (schema.type) {
    case 'union': {
      const branch = schema.branches.find((one) => defaultFits(one, json, NOTHING_OPEN))
      if (branch === undefined) throw misfit(schema, json)
      const value = decodedDefault(branch, json, unions)
      return branchWrapper(schema, branch, unions)?.(value) ?? value
    }
    case 'array':
      if (!Array.isArray(json)) throw misfit(schema, json)
      return json.map((item: Json) => decodedDefault(schema.items, item, unions))
    case 'map':
      if (!isObject(json)) throw misfit(schema, json)
      return objectOf([...json].map(([key, value]) => [key, decodedDefault(schema.values, value, unions)]))
    case 'record':
      if (!isObject(json)) throw misfit(schema, json)
      return objectOf(
        schema.fields.map((field) => [field.name, decodedDefault(field.schema, memberOf(schema, field, json), unions)]),
      )
    default:
      if (!defaultFits(schema, json, NOTHING_OPEN)) throw misfit(schema, json)
      return scalarOf(schema, json)
  }
}

function memberOf({ name }: AvroRecord, field: AvroField, json: ReadonlyMap<string, Json>): Json {
  const value = json.get(field.name) ?? field.default
  if (value === undefined) throw new SchemaError(`a default of ${name.full} has no field ${field.name}`)
  return value
}

function scalarOf(schema: AvroSchema, json: Json): unknown {
  switch (schema.type) {
    case 'long': {
      const value = BigInt((json as JsonNumber).literal)
      return Number.isSafeInteger(Number(value)) ? Number(value) : value
    }
    case 'float':
      return Math.fround(numberOf(json))
    case 'int':
    case 'double':
      return numberOf(json)
    case 'bytes':
    case 'fixed':
      return Buffer.from(json as string, 'latin1')
    default:
      return json
  }
}

/** JSON has no `NaN` and infinities, so such a default is a string. */
function numberOf(json: Json): number {
  return json instanceof JsonNumber ? json.value : Number(json)
}

function objectOf(members: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const [name, value] of members) defineMember(object, name, value)
  return object
}

function misfit(schema: AvroSchema, json: Json): SchemaError {
  return new SchemaError(`the default ${printJson(json)} is not a ${printAvro(schema)}`)
}
