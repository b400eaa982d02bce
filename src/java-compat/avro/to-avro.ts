import { isDeepStrictEqual } from 'node:util'
import { javaDouble } from '../../common/java-double.ts'
import { toBuffer } from '../../sdk/bytes.ts'
import {
  bigintToBytes,
  DataError,
  type Decimal,
  decimalScale,
  type Field,
  LOGICAL,
  type Schema,
  type SchemaType,
  struct,
  unscaledAt,
} from '../../sdk/index.ts'
import { shortestFloat } from '../java-text.ts'
import {
  AVRO_PRECISION,
  AVRO_PROP,
  DEFAULT_RECORD_NAME,
  ENUM_DEFAULT,
  ENUM_DOC,
  ENUM_DOC_KEPT,
  enumParameter,
  FIELD_DEFAULT,
  FIELD_DOC,
  FIXED_SIZE,
  isUnion,
  MAP_ENTRY,
  MAP_ENTRY_NAME,
  PRECISION_DEFAULT,
  RECORD_DOC,
  RECORD_DOC_KEPT,
  scrubbed,
  scrubbedPart,
} from './names.ts'

export type ToAvroOptions = {
  /** Whether to store Connect metadata in `connect.*` members. */
  readonly metadata: boolean
  /** Whether strings with the parameters of an enum become Avro enums. */
  readonly enums: boolean
  /** Whether unions and enums use the names shared by all formats. */
  readonly shared?: boolean
  /** Whether to replace characters in names that Avro does not permit. */
  readonly scrub?: boolean
  /** Whether maps with optional string keys become Avro maps. */
  readonly optionalKeys?: boolean
  /** Whether only the documentation and defaults of fields are written, not those of types. */
  readonly discardTypeDocs?: boolean
}

/**
 * Returns the Avro schema, as JSON text, that Confluent's converter generates for a Connect schema. Throws a
 * `DataError`.
 */
export function toAvroText(schema: Schema, options: ToAvroOptions): string {
  return JSON.stringify(toAvro(schema, { ...options, named: new Map(), unnamed: { count: 0 } }))
}

type Context = ToAvroOptions & {
  /** Structs by full name. Later uses refer to the name. */
  readonly named: Map<string, Schema>
  /** Number of structs without a name so far. */
  readonly unnamed: { count: number }
}
type Json = unknown
type Members = Record<string, Json>

function toAvro(schema: Schema, context: Context, ignoreOptional = false): Json {
  if (isUnion(schema)) return unionOf(schema, context)
  const base = baseOf(schema, context)
  const type = typeof base === 'string' ? base : { ...base, ...metadataOf(schema, context), ...logicalOf(schema) }
  if (!schema.optional || ignoreOptional) return type
  return hasDefault(schema) ? [type, 'null'] : ['null', type]
}

function unionOf(schema: Schema, context: Context): Json {
  const branches = (schema.fields ?? []).map((field) => toAvro(field.schema, context, true))
  return schema.optional ? ['null', ...branches] : branches
}

const PRIMITIVES: Readonly<Partial<Record<SchemaType, string>>> = {
  int8: 'int',
  int16: 'int',
  int32: 'int',
  int64: 'long',
  float32: 'float',
  float64: 'double',
  boolean: 'boolean',
  bytes: 'bytes',
}

/** Returns the type without the members that all types can have. A string is a reference to a named type. */
function baseOf(schema: Schema, context: Context): Members | string {
  switch (schema.type) {
    case 'string':
      return stringOf(schema, context)
    case 'array':
      return { type: 'array', items: toAvro(schema.items!, context) }
    case 'map':
      return mapOf(schema, context)
    case 'struct':
      return recordOf(schema, context)
    default:
      return fixedOf(schema, context) ?? { type: PRIMITIVES[schema.type], ...decimalOf(schema) }
  }
}

/** Later uses of the same fixed refer to its name. */
function fixedOf(schema: Schema, context: Context): Members | string | undefined {
  const { type, name: given, parameters } = schema
  const size = Number(parameters?.[FIXED_SIZE])
  if (type !== 'bytes' || given === undefined || !Number.isInteger(size)) return undefined
  const name = nameOf(given, context)
  if (context.named.has(name)) return name
  context.named.set(name, schema)
  return { type: 'fixed', ...named(name), size, ...decimalOf(schema) }
}

function decimalOf(schema: Schema): Members {
  if (schema.name !== LOGICAL.decimal) return {}
  return { scale: decimalScale(schema), precision: precisionOf(schema) }
}

function precisionOf({ parameters }: Schema): number {
  return Number(parameters?.[AVRO_PRECISION] ?? PRECISION_DEFAULT)
}

function stringOf(schema: Schema, { enums, shared, discardTypeDocs }: Context): Members {
  const { parameters = {} } = schema
  const parameter = enumParameter(schema, shared)
  const name = parameters[parameter]
  if (!(enums || shared) || name === undefined) return { type: 'string' }
  const simple = name.slice(name.lastIndexOf('.') + 1)
  const prefix = `${parameter}.`
  const symbols = Object.keys(parameters).flatMap((key) => (key.startsWith(prefix) ? [key.slice(prefix.length)] : []))
  return {
    type: 'enum',
    ...named(name),
    ...present('doc', parameters[discardTypeDocs ? ENUM_DOC_KEPT : ENUM_DOC + simple]),
    symbols,
    ...(!discardTypeDocs && present('default', parameters[ENUM_DEFAULT + simple])),
  }
}

function hasTextKeys({ keys }: Schema, { optionalKeys }: Context): boolean {
  return keys!.type === 'string' && (optionalKeys === true || !keys!.optional)
}

function mapOf(schema: Schema, context: Context): Members {
  if (hasTextKeys(schema, context)) {
    return { type: 'map', values: toAvro(schema.items!, context) }
  }
  return { type: 'array', items: entryOf(schema, context) }
}

/**
 * Returns the record of a map entry. Entries of different maps get different names, because Avro names must be unique.
 */
function entryOf(schema: Schema, context: Context): Members | string {
  const entry = struct(MAP_ENTRY, { key: schema.keys!, value: schema.items! })
  const base = schema.name === undefined ? MAP_ENTRY_NAME : nameOf(schema.name, context)
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}${count}`
    const known = context.named.get(name)
    if (known !== undefined && isDeepStrictEqual(known, entry)) return name
    if (known !== undefined) continue
    context.named.set(name, entry)
    const fields = entry.fields!.map((field) => fieldOf(field, undefined, context))
    return {
      type: 'record',
      ...named(name),
      fields,
      ...(name !== MAP_ENTRY_NAME && { [AVRO_PROP.internalType]: MAP_ENTRY }),
    }
  }
}

function recordOf(schema: Schema, context: Context): Members | string {
  const name = schema.name === undefined ? defaultNameOf(schema, context) : nameOf(schema.name, context)
  const known = context.named.get(name)
  if (known !== undefined) {
    if (schema.optional || isSame(known, schema)) return name
    throw new DataError(`two different structs are named '${name}': Avro requires unique names`)
  }
  context.named.set(name, schema)
  const docs = schema.parameters ?? {}
  return {
    type: 'record',
    ...named(name),
    ...present('doc', docs[context.discardTypeDocs ? RECORD_DOC_KEPT : RECORD_DOC]),
    fields: (schema.fields ?? []).map((field) => {
      const doc = context.discardTypeDocs ? field.schema.doc : docs[FIELD_DOC + field.name]
      return fieldOf(context.scrub ? { ...field, name: scrubbedPart(field.name) } : field, doc, context)
    }),
  }
}

function isSame(one: Schema, other: Schema): boolean {
  return isDeepStrictEqual({ ...one, optional: false }, { ...other, optional: false })
}

/** Numbers the structs without a name, so that each has a unique name. */
function defaultNameOf(schema: Schema, { named: known, unnamed }: Context): string {
  for (const [name, one] of known) if (one.name === undefined && isSame(one, schema)) return name
  unnamed.count += 1
  return unnamed.count === 1 ? DEFAULT_RECORD_NAME : `${DEFAULT_RECORD_NAME}${unnamed.count}`
}

/** A name without a namespace gets an empty one, so that it does not inherit that of the enclosing record. */
function named(name: string): Members {
  return name.includes('.') ? { name } : { name, namespace: '' }
}

function nameOf(name: string, { scrub }: Context): string {
  return scrub ? scrubbed(name) : name
}

function fieldOf({ name, schema }: Field, doc: string | undefined, context: Context): Members {
  const fallback = hasDefault(schema)
    ? { default: defaultOf(schema, schema.default, context) }
    : schema.optional && { default: null }
  return { name, type: toAvro(schema, context), ...present('doc', doc), ...fallback }
}

function metadataOf(schema: Schema, context: Context): Members {
  if (!context.metadata) return {}
  const { [FIELD_DEFAULT]: fromAvro, ...others } = schema.parameters ?? {}
  const parameters = context.discardTypeDocs ? (schema.parameters ?? {}) : others
  const tellsDefault = hasDefault(schema) && (context.discardTypeDocs || fromAvro === undefined)
  return {
    ...present(AVRO_PROP.doc, schema.doc),
    ...present(AVRO_PROP.version, schema.version),
    ...(Object.keys(parameters).length > 0 && { [AVRO_PROP.parameters]: parameters }),
    ...(tellsDefault && { [AVRO_PROP.default]: defaultOf(schema, schema.default, context) }),
    ...present(AVRO_PROP.name, schema.name),
    ...((schema.type === 'int8' || schema.type === 'int16') && { [AVRO_PROP.type]: schema.type }),
  }
}

function logicalOf(schema: Schema): Members {
  switch (schema.name) {
    case LOGICAL.decimal:
      return { logicalType: 'decimal' }
    case LOGICAL.date:
      return { logicalType: 'date' }
    case LOGICAL.time:
      return { logicalType: 'time-millis' }
    case LOGICAL.timestamp:
      return { logicalType: 'timestamp-millis' }
    default:
      return {}
  }
}

function hasDefault(schema: Schema): boolean {
  return schema.default !== undefined && schema.default !== null
}

/** Converts a default to the JSON form used in Avro schemas. */
function defaultOf(schema: Schema, value: unknown, context: Context): Json {
  if (value === null || value === undefined) return null
  switch (schema.type) {
    case 'float32':
      return JSON.rawJSON(javaDouble(shortestFloat(value as number)))
    case 'float64':
      return JSON.rawJSON(javaDouble(value as number))
    case 'bytes':
      return bytesOf(schema, value).toString('latin1')
    case 'array':
      return (value as unknown[]).map((item) => defaultOf(schema.items!, item, context))
    case 'map':
      return mapDefaultOf(schema, value as ReadonlyMap<unknown, unknown>, context)
    case 'struct':
      return structDefaultOf(schema, value as Members, context)
    default:
      return scalarDefaultOf(schema, value)
  }
}

function scalarDefaultOf(schema: Schema, value: unknown): Json {
  if (typeof value === 'bigint') return JSON.rawJSON(String(value))
  if (!(value instanceof Date)) return value
  return schema.name === LOGICAL.date ? Math.floor(value.getTime() / 86_400_000) : value.getTime()
}

function bytesOf(schema: Schema, value: unknown): Buffer {
  if (schema.name !== LOGICAL.decimal) return toBuffer(value as Uint8Array)
  return bigintToBytes(unscaledAt(decimalScale(schema), value as Decimal))
}

function mapDefaultOf(schema: Schema, value: ReadonlyMap<unknown, unknown>, context: Context): Json {
  const entries = [...value].map(([key, item]) => [
    defaultOf(schema.keys!, key, context),
    defaultOf(schema.items!, item, context),
  ])
  return hasTextKeys(schema, context) ? Object.fromEntries(entries) : entries
}

function structDefaultOf(schema: Schema, value: Members, context: Context): Json {
  return Object.fromEntries(
    (schema.fields ?? []).map((field) => [
      context.scrub ? scrubbedPart(field.name) : field.name,
      defaultOf(field.schema, value[field.name], context),
    ]),
  )
}

function present(key: string, value: unknown): Members {
  return value === undefined ? {} : { [key]: value }
}
