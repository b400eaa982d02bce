import { isDeepStrictEqual } from 'node:util'
import { DataError, type Field, LOGICAL, type Schema, type SchemaType } from '../../../sdk/index.ts'
import { META_IMPORT, metaOf, metaText } from './meta.ts'
import { DEFAULT_NAME, ENUM, MESSAGE, TAG, UNION } from './names.ts'

export type ToProtoOptions = {
  /** Whether fields that may be null are `optional`; without it or wrappers, null scalars are read as zero or nothing. */
  readonly optionals: boolean
  /** Whether they are messages with a value instead. */
  readonly wrappers: boolean
}

type Context = ToProtoOptions & {
  readonly imports: Set<string>
  /** The messages and enums of the message that is being written, by their names. */
  readonly types: Map<string, { readonly schema: Schema; readonly text: string }>
  /** How many structs have no name so far. */
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
  float: 'FloatValue',
  double: 'DoubleValue',
  bool: 'BoolValue',
  string: 'StringValue',
  bytes: 'BytesValue',
}

/** The .proto file with one outermost message that a struct becomes. Throws a `DataError`. */
export function toProtoText(schema: Schema, options: ToProtoOptions): string {
  if (schema.type !== 'struct') throw new DataError(`ProtobufConverter takes structs, not ${schema.type}`)
  const [, packageName] = /^(.+)\.[^.]*$/.exec(schema.name ?? '') ?? []
  const context = { ...options, imports: new Set<string>(), unnamed: { count: 0 }, types: new Map() }
  const message = messageText(nameOf(schema, context), schema, context)
  const imports = [...context.imports].sort().map((path) => `import "${path}";\n`)
  const head = packageName === undefined ? '' : `package ${packageName};\n`
  return `syntax = "proto3";\n${head}${imports.join('')}${message}`
}

function messageText(name: string, schema: Schema, around: Context): string {
  const context: Context = { ...around, types: new Map() }
  const tags = tagger()
  const fields = (schema.fields ?? []).map((field) => fieldText(field, tags, context))
  const types = [...context.types.values()].map(({ text }) => text)
  return `message ${name} {\n${fields.join('')}${types.join('')}}\n`
}

/** A field's number: its own, or the next that is free. */
function tagger(): (schema: Schema) => number {
  let last = 0
  return ({ parameters }) => {
    const own = Number(parameters?.[TAG] ?? Number.NaN)
    last = Number.isInteger(own) ? own : last + 1
    return last
  }
}

function fieldText({ name, schema }: Field, tags: (schema: Schema) => number, context: Context): string {
  if (schema.name?.startsWith(UNION)) return oneofText(name, schema, tags, context)
  const meta = metaText(metaOf(schema))
  if (meta !== '') context.imports.add(META_IMPORT)
  const tag = `${tags(schema)}${meta}`
  if (schema.type === 'array') return `repeated ${singleType(schema.items!, context)} ${name} = ${tag};\n`
  if (schema.type === 'map') return `${mapType(schema, context)} ${name} = ${tag};\n`
  const type = singleType(schema, context)
  if (!schema.optional || schema.type === 'struct' || LOGICAL_MESSAGES[schema.name ?? ''] !== undefined) {
    return `${type} ${name} = ${tag};\n`
  }
  const wrapper = context.wrappers ? WRAPPERS[type] : undefined
  if (wrapper === undefined) return `${context.optionals ? 'optional ' : ''}${type} ${name} = ${tag};\n`
  context.imports.add('google/protobuf/wrappers.proto')
  return `google.protobuf.${wrapper} ${name} = ${tag};\n`
}

function oneofText(name: string, schema: Schema, tags: (schema: Schema) => number, context: Context): string {
  const fields = (schema.fields ?? []).map((field) =>
    fieldText({ ...field, schema: { ...field.schema, optional: false } }, tags, context),
  )
  const own = schema.name?.slice(UNION.length + 1) || name
  return `oneof ${own} {\n${fields.join('')}}\n`
}

const KEYS = ['int32', 'int64', 'bool', 'string']

function mapType(schema: Schema, context: Context): string {
  const key = singleType(schema.keys!, context)
  if (KEYS.includes(key)) return `map<${key}, ${singleType(schema.items!, context)}>`
  throw new DataError(`Protobuf has no maps with keys of type ${schema.keys?.type}`)
}

/** Of a value that is not repeated. */
function singleType(schema: Schema, context: Context): string {
  const message = LOGICAL_MESSAGES[schema.name ?? '']
  if (message !== undefined) {
    context.imports.add(IMPORTS[message] as string)
    return message
  }
  if (schema.type === 'struct') return nested(schema, context, (name) => messageText(name, schema, context))
  if (schema.type === 'string' && schema.parameters?.[ENUM] !== undefined) return enumType(schema, context)
  const scalar = SCALARS[schema.type]
  if (scalar !== undefined) return scalar
  throw new DataError(`Protobuf has no ${schema.type}s within lists or maps: put them into a struct`)
}

function enumType(schema: Schema, context: Context): string {
  const words = Object.entries(schema.parameters ?? {}).filter(([key]) => key.startsWith(`${ENUM}.`))
  const constants = words.map(([key, number]) => `${key.slice(ENUM.length + 1)} = ${number};\n`)
  const named = { ...schema, name: schema.parameters?.[ENUM] || 'Enum' }
  return nested(named, context, (name) => `enum ${name} {\n${constants.join('')}}\n`)
}

/** A type within the message: a second use only names it, and others of its name get another one. */
function nested(schema: Schema, context: Context, write: (name: string) => string): string {
  const base = nameOf(schema, context)
  const same = { ...schema, optional: false, parameters: undefined }
  for (let count = 1; ; count++) {
    const name = count === 1 ? base : `${base}${count}`
    const known = context.types.get(name)
    if (known === undefined) {
      context.types.set(name, { schema: same as unknown as Schema, text: '' })
      context.types.set(name, { schema: same as unknown as Schema, text: write(name) })
      return name
    }
    if (isDeepStrictEqual(known.schema, same)) return name
  }
}

function nameOf({ name }: Schema, { unnamed }: Context): string {
  if (name !== undefined && name !== '') return name.slice(name.lastIndexOf('.') + 1)
  unnamed.count += 1
  return `${DEFAULT_NAME}${unnamed.count}`
}
