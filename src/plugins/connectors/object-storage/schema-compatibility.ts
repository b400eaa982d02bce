import { isDeepStrictEqual } from 'node:util'
import { AVRO_ENUM, FIELD_DOC, RECORD_DOC_KEPT } from '../../../java-compat/avro/names.ts'
import { SUM_TYPE_NAMES } from '../../../java-compat/sum-type-names.ts'
import { DataError, type Schema, type SchemaType } from '../../../sdk/index.ts'

/**
 * What happens to a value whose schema is not that of its file. `NONE`: it begins another file. `BACKWARD` and `FULL`: a value of an older
 * schema is converted to that of the file. `FORWARD`: one of a newer schema is.
 */
export const SCHEMA_COMPATIBILITIES = ['NONE', 'BACKWARD', 'FORWARD', 'FULL'] as const
export type SchemaCompatibility = (typeof SCHEMA_COMPATIBILITIES)[number]

/** Converts a value to the schema of a file. */
export type ValueProjection = (value: unknown) => unknown

export const UNCHANGED: ValueProjection = (value) => value

/** Decides which values fit in a file that began with another schema. */
export class SchemaProjector {
  readonly #mode: SchemaCompatibility
  readonly #known = new WeakMap<Schema, WeakMap<Schema, ValueProjection | undefined>>()

  constructor(mode: SchemaCompatibility) {
    this.#mode = mode
  }

  /**
   * The conversion from a schema to that of a file; undefined if the value needs another file. Throws a `DataError` if the schemas have no
   * versions, by which it is decided.
   */
  conversion(schema: Schema | null, fileSchema: Schema | null): ValueProjection | undefined {
    if (schema === fileSchema) return UNCHANGED
    if (schema === null || fileSchema === null) return undefined
    let known = this.#known.get(schema)
    if (known === undefined) {
      known = new WeakMap()
      this.#known.set(schema, known)
    }
    if (!known.has(fileSchema)) known.set(fileSchema, this.#create(schema, fileSchema))
    return known.get(fileSchema)
  }

  #create(schema: Schema, fileSchema: Schema): ValueProjection | undefined {
    if (isDeepStrictEqual(schema, fileSchema)) return UNCHANGED
    if (this.#mode === 'NONE') return undefined
    if (schema.version === undefined || fileSchema.version === undefined)
      throw new DataError(
        `schema.compatibility=${this.#mode} requires schemas with a version: use a converter with a schema registry, or NONE`,
      )
    const isWrongDirection =
      this.#mode === 'FORWARD' ? schema.version < fileSchema.version : schema.version > fileSchema.version
    return isWrongDirection ? undefined : conversionOf(schema, fileSchema)
  }
}

function conversionOf(from: Schema, to: Schema): ValueProjection | undefined {
  if (!canBecome(from, to)) return undefined
  const convert = presentConversion(from, to)
  if (convert === undefined) return undefined
  const absent = from.optional && !to.optional ? to.default : null
  return (value) => (value === null || value === undefined ? absent : convert(value))
}

/** Without the fields, items and keys. */
function canBecome(from: Schema, to: Schema): boolean {
  const hasAbsent = !from.optional || to.optional || (to.default !== undefined && to.default !== null)
  const isPromoted = WIDTHS.includes(from.type) && WIDTHS.indexOf(from.type) <= WIDTHS.indexOf(to.type)
  return hasAbsent && (from.type === to.type || isPromoted) && from.name === to.name && hasParametersFor(from, to)
}

const WIDTHS: readonly SchemaType[] = ['int8', 'int16', 'int32', 'int64', 'float32', 'float64']
const ENUMS = [SUM_TYPE_NAMES.enum, AVRO_ENUM, 'io.confluent.connect.protobuf.Enum']
const DOCUMENTATION = [RECORD_DOC_KEPT, 'connect.record.aliases', 'connect.record.namespace']

/** The symbols of an enum may be a part of those of the other one. */
function hasParametersFor(from: Schema, to: Schema): boolean {
  const [given, wanted] = [parametersOf(from), parametersOf(to)]
  const isEnum = ENUMS.some((name) => given[name] !== undefined) && ENUMS.some((name) => wanted[name] !== undefined)
  return isEnum
    ? Object.entries(given).every(([name, text]) => wanted[name] === text)
    : isDeepStrictEqual(given, wanted)
}

/** Without documentation. */
function parametersOf({ parameters = {} }: Schema): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(parameters).filter(([name]) => !DOCUMENTATION.includes(name) && !name.startsWith(FIELD_DOC)),
  )
}

function presentConversion(from: Schema, to: Schema): ValueProjection | undefined {
  switch (to.type) {
    case 'struct':
      return structConversion(from, to)
    case 'array': {
      const convert = conversionOf(from.items!, to.items!)
      return convert && ((value) => (value as readonly unknown[]).map(convert))
    }
    case 'map': {
      const [key, item] = [conversionOf(from.keys!, to.keys!), conversionOf(from.items!, to.items!)]
      if (key === undefined || item === undefined) return undefined
      return (value) => new Map([...(value as ReadonlyMap<unknown, unknown>)].map(([k, v]) => [key(k), item(v)]))
    }
    case 'float32':
      return (value) => (isNumber(value) ? Math.fround(Number(value)) : value)
    case 'float64':
      return (value) => (isNumber(value) ? Number(value) : value)
    default:
      return UNCHANGED
  }
}

/** Logical types have values of other kinds. */
function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** Fields that only the file has get their default; those that it does not have are dropped. */
function structConversion(from: Schema, to: Schema): ValueProjection | undefined {
  const given = new Map(from.fields?.map((field) => [field.name, field.schema]))
  const fields: { readonly name: string; readonly fallback: unknown; readonly convert: ValueProjection }[] = []
  for (const { name, schema } of to.fields ?? []) {
    const source = given.get(name)
    const convert = source === undefined ? UNCHANGED : conversionOf(source, schema)
    const fallback = (source ?? schema).default ?? null
    if (convert === undefined || (source === undefined && !schema.optional && fallback === null)) return undefined
    fields.push({ name, fallback, convert })
  }
  return (value) => {
    const values = value as Readonly<Record<string, unknown>>
    return Object.fromEntries(
      fields.map(({ name, fallback, convert }) => [name, convert((given.has(name) ? values[name] : null) ?? fallback)]),
    )
  }
}
