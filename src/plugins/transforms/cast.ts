import { trimAsJava } from '../../common/trim-as-java.ts'
import { inferType, javaClass } from '../../java-compat/java-class-name.ts'
import { DataError, type Field, field, isDecimal, LOGICAL, type Schema, type SchemaType, z } from '../../sdk/index.ts'
import { headerText } from '../converters/simple-header/header-text.ts'
import { toBoolean, toFloat, toInteger } from './cast-number.ts'
import { sideTransforms } from './key-value-transforms.ts'
import {
  absenceOf,
  basicsOf,
  colonParts,
  fieldsOf,
  type Members,
  membersOf,
  oncePerSchema,
  ownMember,
  replaceNullField,
  requireObject,
  structOf,
} from './struct-access.ts'

const TARGETS = ['int8', 'int16', 'int32', 'int64', 'float32', 'float64', 'boolean', 'string'] as const
const SOURCES: readonly SchemaType[] = [...TARGETS, 'bytes']
const TYPES: readonly SchemaType[] = [...SOURCES, 'array', 'map', 'struct']
type Target = (typeof TARGETS)[number]

type Casts = { readonly whole: Target | undefined; readonly fields: ReadonlyMap<string, Target> }

/** Casts fields, or the whole key or value, to other types. */
export const cast = sideTransforms({
  name: 'Cast',
  summary: 'Casts fields, or the whole key or value, to a specific type.',
  config: z.object({
    spec: field.parsed(
      field.list({
        doc:
          'Comma-separated `field:type` pairs, for fields of Maps or Structs; or one type, for the entire value. ' +
          'Valid types: int8, int16, int32, int64, float32, float64, boolean, string. Binary fields can be cast to ' +
          'string only.',
        importance: 'HIGH',
      }),
      parseCasts,
    ),
    'replace.null.with.default': replaceNullField(),
  }),
  create({ spec: { whole, fields }, 'replace.null.with.default': withDefault }) {
    const changed = oncePerSchema((schema) => {
      if (whole !== undefined) return castSchema(schema, whole, basicsOf(schema))
      const made = fieldsOf(schema).map((one): Field => {
        const target = fields.get(one.name)
        return target === undefined ? one : { name: one.name, schema: castSchema(one.schema, target, {}) }
      })
      const { optional, default: fallback } = absenceOf(schema)
      const castDefault = fallback === undefined ? {} : { default: castFields(schema, fallback as Members, true) }
      return structOf({ ...basicsOf(schema), ...(optional && { optional }), ...castDefault }, made)
    })
    const castFields = (schema: Schema, struct: Members, withDefaults: boolean): Members =>
      membersOf(schema, struct, withDefaults, (found, one) => {
        const target = fields.get(one.name)
        return target === undefined ? found : castValue(one.schema, found, target)
      })
    return (side) => {
      const { schema, value } = side
      if (value === null || value === undefined) return side
      if (whole !== undefined) {
        return { schema: schema && changed(schema), value: castValue(schema, value, whole) }
      }
      if (schema === null) {
        const members = requireObject(value, 'cast types')
        const casts = [...fields].map(([name, target]) => [name, castValue(null, ownMember(members, name), target)])
        return { schema, value: { ...members, ...Object.fromEntries(casts) } }
      }
      const updated = changed(schema)
      return { schema: updated, value: castFields(schema, value as Members, withDefault) }
    }
  },
})

function parseCasts(mappings: readonly string[]): Casts {
  if (mappings.length === 0) throw new Error('Must specify at least one field to cast.')
  const fields = new Map<string, Target>()
  let whole: Target | undefined
  for (const mapping of mappings) {
    const parts = colonParts(mapping)
    if (parts.length > 2) {
      throw new Error(
        `Invalid value [${mappings.join(', ')}] for configuration renames: Invalid rename mapping: ${mapping}`,
      )
    }
    const [name = '', type] = parts
    if (type === undefined) whole = parseTarget(trimAsJava(name))
    else fields.set(trimAsJava(name), parseTarget(trimAsJava(type)))
  }
  if (whole !== undefined && mappings.length > 1) {
    throw new Error(
      'Cast transformations that specify a type to cast the entire value to may only specify a single cast in their spec',
    )
  }
  return { whole, fields }
}

function parseTarget(text: string): Target {
  const type = TYPES.find((known) => known === text.toLowerCase())
  if (type === undefined) throw new Error(`Invalid type found in casting spec: ${text}`)
  const target = TARGETS.find((known) => known === type)
  if (target !== undefined) return target
  throw new Error(
    `Cast transformation does not support casting to ${type.toUpperCase()}; supported types are ${listed(TARGETS)}`,
  )
}

function listed(types: readonly string[]): string {
  return `[${types.join(', ').toUpperCase()}]`
}

function castSchema(schema: Schema, target: Target, basics: Omit<Schema, 'type'>): Schema {
  const { optional, default: fallback } = absenceOf(schema)
  return {
    ...basics,
    type: target,
    ...(optional && { optional }),
    ...(fallback !== undefined && { default: castValue(schema, fallback, target) }),
  }
}

function castValue(schema: Schema | null, value: unknown, target: Target): unknown {
  if (value === null || value === undefined) return null
  if (schema === null && (value instanceof Date || isDecimal(value))) {
    throw new DataError(
      `Cast transformation was passed a value of type class ${javaClass(value, null)} which is not supported by Connect's data API`,
    )
  }
  const type = schema?.type ?? inferType(value)
  if (!SOURCES.includes(type)) {
    throw new DataError(
      `Cast transformation does not support casting from ${type.toUpperCase()}; supported types are ${listed(SOURCES)}`,
    )
  }
  if (target === 'string') return headerText(value, schema)
  const plain = withoutLogical(schema, value)
  if (plain instanceof Uint8Array) {
    throw new DataError(`Unexpected type in Cast transformation: class ${javaClass(plain, null)}`)
  }
  if (target === 'boolean') return toBoolean(plain, type)
  if (target === 'float32' || target === 'float64') return toFloat(plain, target)
  return toInteger(plain, type, BITS[target])
}

const BITS = { int8: 8, int16: 16, int32: 32, int64: 64 } as const
const DAY_MS = 86_400_000

/** Returns the value of the underlying type of a logical type. */
function withoutLogical(schema: Schema | null, value: unknown): unknown {
  if (!(value instanceof Date)) return value
  if (schema?.name !== LOGICAL.date) return value.getTime()
  const days = value.getTime() / DAY_MS
  if (Number.isInteger(days)) return days
  throw new DataError('Kafka Connect Date type should not have any time fields set to non-zero values.')
}
