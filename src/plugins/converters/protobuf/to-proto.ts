import { DataError, type Field, LOGICAL, type Schema, type SchemaType } from '../../../sdk/index.ts'
import { metaText, protobufFieldMetaOf } from './field-meta.ts'
import { DEFAULT_MESSAGE_NAME, entryName, MESSAGE, PROTOBUF_ENUM, PROTOBUF_UNION, TAG, TYPE } from './names.ts'

export type ToProtoOptions = {
  /**
   * Whether nullable fields are `optional`. Without this or `wrappers`, null scalars are read back as zero or empty.
   */
  readonly optionals: boolean
  /** Whether nullable fields use wrapper messages. */
  readonly wrappers: boolean
}

type Context = ToProtoOptions & {
  readonly imports: Set<string>
  /** Nested types of the current message, by name. */
  readonly types: Map<string, { readonly text: string }>
  /** Number of structs without a name so far. */
  readonly unnamed: { count: number }
}

const IMPORTS: Readonly<Record<string, string>> = {
  [MESSAGE.decimal]: 'confluent/type/decimal.proto',
  [MESSAGE.date]: 'google/type/date.proto',
  [MESSAGE.time]: 'google/type/timeofday.proto',
  [MESSAGE.timestamp]: 'google/protobuf/timestamp.proto',
}
const LOGICAL_MESSAGES: Readonly<Record<string, string>> = {
  [LOGICAL.decimal]: MESSAGE.decimal,
  [LOGICAL.date]: MESSAGE.date,
  [LOGICAL.time]: MESSAGE.time,
  [LOGICAL.timestamp]: MESSAGE.timestamp,
}
const SCALARS: Readonly<Partial<Record<SchemaType, string>>> = {
  int8: 'int32',
  int16: 'int32',
  int32: 'int32',
  int64: 'int64',
  float32: 'float',
  float64: 'double',
  boolean: 'bool',
  string: 'string',
  bytes: 'bytes',
}
const WRAPPERS: Readonly<Record<string, string>> = {
  int32: 'Int32Value',
  int64: 'Int64Value',
  uint32: 'UInt32Value',
  fixed32: 'UInt32Value',
  uint64: 'UInt64Value',
  fixed64: 'UInt64Value',
  sint32: 'Int32Value',
  sfixed32: 'Int32Value',
  sint64: 'Int64Value',
  sfixed64: 'Int64Value',
  float: 'FloatValue',
  double: 'DoubleValue',
  bool: 'BoolValue',
  string: 'StringValue',
  bytes: 'BytesValue',
}

const WRAPPED = ['double', 'float', 'int64', 'uint64', 'int32', 'uint32', 'bool', 'string', 'bytes']
/** The file that Java registers for values that are not structs. */
const WRAPPERS_FILE = `syntax = "proto3";
package google.protobuf;

option java_package = "com.google.protobuf";
option java_outer_classname = "WrappersProto";
option java_multiple_files = true;
option go_package = "google.golang.org/protobuf/types/known/wrapperspb";
option cc_enable_arenas = true;
option objc_class_prefix = "GPB";
option csharp_namespace = "Google.Protobuf.WellKnownTypes";

${WRAPPED.map((type) => `message ${WRAPPERS[type]} {\n  ${type} value = 1 [json_name = "value"];\n}\n`).join('')}`

/** Returns the .proto file for a struct, with one top-level message. Throws a `DataError`. */
export function toProtoText(schema: Schema, options: ToProtoOptions): string {
  if (schema.type !== 'struct') return wrapperOf(schema) === undefined ? noMessage(schema) : WRAPPERS_FILE
  const [, packageName] = /^(.+)\.[^.]*$/.exec(schema.name ?? '') ?? []
  const imports = new Set<string>()
  const context: Context = { ...options, imports, unnamed: { count: 0 }, types: new Map() }
  const message = messageText(nameOf(schema, context), schema, context)
  const head = packageName === undefined ? '' : `package ${packageName};\n`
  const lines = [...imports].map((path) => `import "${path}";\n`)
  return `syntax = "proto3";\n${head}${lines.join('')}${message}`
}

/** Returns the wrapper message for a value that is not a struct, or undefined. */
export function wrapperOf({ type, name = '' }: Schema): string | undefined {
  const wrapper = name in LOGICAL_MESSAGES ? undefined : WRAPPERS[SCALARS[type] ?? '']
  return wrapper === undefined ? undefined : `google.protobuf.${wrapper}`
}

function noMessage({ type, name = type }: Schema): never {
  throw new DataError(`ProtobufConverter supports structs and primitives, not ${name}`)
}

function messageText(name: string, schema: Schema, around: Context): string {
  const context: Context = { ...around, types: new Map() }
  const tags = tagger()
  return bodyText(name, (schema.fields ?? []).map((field) => fieldText(field, tags, context)).join(''), context)
}

function bodyText(name: string, fields: string, { types }: Context): string {
  return `message ${name} {\n${fields}${[...types.values()].map(({ text }) => text).join('')}}\n`
}

/** Returns a function that assigns field numbers: the schema's own number, otherwise the next sequence number. */
function tagger(): (schema: Schema) => number {
  let last = 0
  return ({ parameters }) => {
    const own = Number(parameters?.[TAG] ?? Number.NaN)
    if (Number.isInteger(own)) return own
    last += 1
    return last
  }
}

function fieldText({ name, schema }: Field, tags: (schema: Schema) => number, context: Context): string {
  if (schema.name?.startsWith(PROTOBUF_UNION)) return oneofText(name, schema, tags, context)
  return plainFieldText(name, schema, tags(schema), context)
}

function plainFieldText(name: string, schema: Schema, tag: number, context: Context): string {
  const end = `${name} = ${tag}${metaText(protobufFieldMetaOf(schema))};\n`
  if (schema.type === 'array') return `repeated ${singleType(schema.items!, name, context)} ${end}`
  if (schema.type === 'map') return `repeated ${entryType(schema, context)} ${end}`
  const label = schema.optional && context.optionals ? 'optional ' : ''
  return `${label}${singleType(schema, name, context)} ${end}`
}

function oneofText(name: string, schema: Schema, tags: (schema: Schema) => number, context: Context): string {
  const unmarked = { ...context, optionals: false }
  const fields = (schema.fields ?? []).map((field) =>
    plainFieldText(field.name, field.schema, tags(field.schema), unmarked),
  )
  const own = schema.name?.slice(PROTOBUF_UNION.length + 1) || name
  return `oneof ${own.slice(own.lastIndexOf('.') + 1)} {\n${fields.join('')}}\n`
}

/** As in Java, a map becomes a list of messages with a key and a value, so keys may have any type. */
function entryType(schema: Schema, context: Context): string {
  const name = entryName(nameOf(schema, context))
  const inner: Context = { ...context, types: new Map() }
  const key = plainFieldText('key', schema.keys!, 1, inner)
  const value = plainFieldText('value', schema.items!, 2, inner)
  return named(name, context, () => bodyText(name, key + value, inner))
}

/** Returns the type of a field that is not repeated. */
function singleType(schema: Schema, field: string, context: Context): string {
  const message = LOGICAL_MESSAGES[schema.name ?? '']
  if (message !== undefined) return imported(message, IMPORTS[message] as string, context)
  if (schema.type === 'struct') return structType(schema, field, context)
  if (schema.parameters?.[PROTOBUF_ENUM] !== undefined) return enumType(schema, context)
  const scalar = scalarOf(schema)
  if (scalar === undefined)
    throw new DataError(`Protobuf does not support ${schema.type}s as items of a list: wrap them in structs`)
  const wrapper = context.wrappers && schema.optional ? WRAPPERS[scalar] : undefined
  return wrapper === undefined
    ? scalar
    : imported(`google.protobuf.${wrapper}`, 'google/protobuf/wrappers.proto', context)
}

function imported(type: string, path: string, { imports }: Context): string {
  imports.add(path)
  return type
}

function scalarOf({ type, parameters }: Schema): string | undefined {
  const own = type === 'int32' || type === 'int64' ? parameters?.[TYPE] : undefined
  return own ?? SCALARS[type]
}

/** A message with the same name as its field would be ambiguous, so it gets the suffix `Message`. */
function structType(schema: Schema, field: string, context: Context): string {
  const own = nameOf(schema, context)
  const name = own === field ? `${own}Message` : own
  const { count } = context.unnamed
  return named(name, context, (unique) => {
    context.unnamed.count = count
    return messageText(unique, schema, context)
  })
}

function enumType({ parameters = {} }: Schema, context: Context): string {
  const words = Object.entries(parameters).filter(([key]) => key.startsWith(`${PROTOBUF_ENUM}.`))
  const constants = words
    .sort((a, b) => Number(a[1]) - Number(b[1]))
    .map(([key, number]) => `${key.slice(PROTOBUF_ENUM.length + 1)} = ${number};\n`)
  const own = parameters[PROTOBUF_ENUM] || 'Enum'
  return named(own.slice(own.lastIndexOf('.') + 1), context, (name) => `enum ${name} {\n${constants.join('')}}\n`)
}

/**
 * Adds a nested type to the message. An identical type is reused; a different type with the same name gets a number.
 */
function named(base: string, { types }: Context, write: (name: string) => string): string {
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}${count}`
    const known = types.get(name)
    // Reserve the position: a type precedes the types nested in it.
    if (known === undefined) types.set(name, { text: '' })
    const text = write(name)
    if (known === undefined) types.set(name, { text })
    if (known === undefined || known.text === text) return name
  }
}

function nameOf({ name }: Schema, { unnamed }: Context): string {
  if (name !== undefined && name !== '') return name.slice(name.lastIndexOf('.') + 1)
  unnamed.count += 1
  return `${DEFAULT_MESSAGE_NAME}${unnamed.count}`
}
