import { AvroInput } from '../../formats/avro/avro-input.ts'
import {
  type AvroArray,
  type AvroEnum,
  type AvroFixed,
  type AvroPrimitive,
  type AvroRecord,
  type AvroSchema,
  type AvroUnion,
  branchName,
  type Props,
} from '../../formats/avro/avro-schema.ts'
import { avroBytes, avroWriter } from '../../formats/avro/writer.ts'
import { defineMember } from '../../formats/define-member.ts'
import { isObject, type Json, JsonNumber } from '../../formats/json-text.ts'
import {
  bigintFromBytes,
  DataError,
  decimal,
  isInteger,
  LOGICAL,
  type Schema,
  STRING,
  valueLabel,
} from '../../sdk/index.ts'
import { dateFromMs } from '../date-from-ms.ts'
import { expansionLimit } from '../expansion-limit.ts'
import { SUM_TYPE_NAMES } from '../sum-type-names.ts'
import {
  AVRO_ENUM,
  AVRO_PRECISION,
  AVRO_PROP,
  AVRO_UNION,
  DEFAULT_RECORD_NAME,
  ENUM_DEFAULT,
  ENUM_DOC,
  ENUM_DOC_KEPT,
  FIELD_DEFAULT,
  FIELD_DOC,
  FIXED_SIZE,
  isMapEntry,
  PRECISION_DEFAULT,
  RECORD_DOC,
  RECORD_DOC_KEPT,
  unionFieldName,
} from './names.ts'
import { wireDefault } from './wire-default.ts'

/** Reads a Connect value. Throws a `SchemaError` for bytes that are not valid, and a `DataError`. */
export type ReadValue = (from: AvroInput) => unknown

/** A Connect schema with the function that reads its values in Avro's binary encoding. */
export type FromAvro = { readonly schema: Schema; readonly read: ReadValue }

export type FromAvroOptions = {
  /** Whether to use `connect.*` members and the documentation in the Avro schema. */
  readonly metadata: boolean
  /** Whether the fields of unions have the full names of their types. */
  readonly enums?: boolean
  /** Whether unions and enums use the names shared by all formats. */
  readonly shared?: boolean
  /** Whether a union of one schema becomes a struct like other unions, instead of that schema. */
  readonly keepSingletons?: boolean
  /** Whether the documentation of fields takes precedence over that of types, and defaults of enums are ignored. */
  readonly discardTypeDocs?: boolean
  /** Version of the outermost schema if the schema itself does not specify one. */
  readonly version?: number | undefined
}

/** Converts an Avro schema as Confluent's converter does. Throws a `DataError`. */
export function fromAvro(avro: AvroSchema, options: FromAvroOptions): FromAvro {
  const context: Context = { ...options, open: new Set(), unions: { count: 0 }, countSchema: expansionLimit() }
  return convert(avro, context, { version: options.version })
}

type Context = FromAvroOptions & {
  readonly open: Set<AvroSchema>
  /** Number of unions so far. */
  readonly unions: { count: number }
  readonly countSchema: () => void
}
type Place = {
  readonly optional?: boolean | undefined
  /** Default of the Avro field that has this schema. */
  readonly fallback?: Json | undefined
  readonly version?: number | undefined
  /** Documentation of that field. */
  readonly doc?: string | undefined
}

/** Creates a function that converts values in the form of `avroCodec` to Connect values. */
export function connectForm(avro: AvroSchema, read: ReadValue): (value: unknown) => unknown {
  const write = avroWriter(avro, 'wrapped')
  return (value) => read(new AvroInput(avroBytes(write, value)))
}

const marked = { [FIELD_DEFAULT]: 'true' }

function convert(avro: AvroSchema, context: Context, place: Place): FromAvro {
  context.countSchema()
  if (avro.type === 'union') return unionFrom(avro, context, place)
  if (context.open.has(avro))
    throw new DataError(`'${branchName(avro)}' is recursive: Connect does not support recursive schemas`)
  context.open.add(avro)
  const base = baseFrom(avro, context)
  context.open.delete(avro)
  const schema = withMetadata(base, avro, context, place)
  return { schema: place.optional ? { ...schema, optional: true } : schema, read: base.read }
}

function unionFrom(avro: AvroUnion, context: Context, place: Place): FromAvro {
  const branches = avro.branches.filter((branch) => branch.type !== 'null')
  const nullable = branches.length < avro.branches.length
  const [only] = branches
  if (only !== undefined && branches.length === 1 && (nullable || !context.keepSingletons)) {
    const { schema, read } = convert(only, context, { doc: place.doc, optional: nullable })
    const index = avro.branches.indexOf(only)
    const count = avro.branches.length
    return { schema, read: (from) => (from.index(count) === index ? read(from) : null) }
  }
  const unionName = context.shared ? `${SUM_TYPE_NAMES.unionName}${context.unions.count++}` : AVRO_UNION
  const parts = branches.map((branch) => ({
    name: context.shared
      ? `${SUM_TYPE_NAMES.fieldName}${avro.branches.indexOf(branch)}`
      : unionFieldName(branch, context.enums),
    index: avro.branches.indexOf(branch),
    ...convert(branch, context, { optional: true }),
  }))
  const fields = parts.map(({ name, schema }) => ({ name, schema }))
  if (new Set(fields.map(({ name }) => name)).size < fields.length) {
    throw new DataError('Multiple union schemas map to the Connect union field name')
  }
  const isMarked = context.metadata && place.fallback !== undefined && !context.discardTypeDocs
  const parameters = { ...(context.shared && { [SUM_TYPE_NAMES.union]: unionName }), ...(isMarked && marked) }
  const byIndex = new Map(parts.map((part) => [part.index, part]))
  return {
    schema: {
      type: 'struct',
      name: unionName,
      ...(Object.keys(parameters).length > 0 && { parameters }),
      ...(place.version !== undefined && { version: place.version }),
      ...(context.discardTypeDocs && place.doc !== undefined && { doc: place.doc }),
      fields,
      ...(nullable && { optional: true }),
    },
    read: (from) => {
      const part = byIndex.get(from.index(avro.branches.length))
      return part === undefined ? null : { [part.name]: part.read(from) }
    },
  }
}

function baseFrom(avro: Exclude<AvroSchema, AvroUnion>, context: Context): FromAvro {
  switch (avro.type) {
    case 'record':
      return recordFrom(avro, context)
    case 'enum':
      return {
        schema: { ...STRING, parameters: enumParameters(avro, context) },
        read: (from) => avro.symbols[from.index(avro.symbols.length)],
      }
    case 'array':
      return isMapEntry(avro.items) ? entriesFrom(avro, context) : arrayFrom(avro, context)
    case 'map': {
      const { schema, read } = convert(avro.values, context, {})
      return {
        schema: { type: 'map', keys: STRING, items: schema },
        read: (from) => readMap(from, () => from.text(), read),
      }
    }
    case 'fixed':
      return fixedFrom(avro)
    case 'null':
      throw new DataError('Standalone null schemas are not supported by this converter')
    default:
      return scalarFrom(avro.type, avro.props)
  }
}

/** Reads blocks of entries into a map. */
function readMap(from: AvroInput, readKey: ReadValue, readItem: ReadValue): ReadonlyMap<unknown, unknown> {
  const map = new Map<unknown, unknown>()
  from.blocks(() => {
    const key = readKey(from)
    map.set(key, readItem(from))
  })
  return map
}

const DAY_MS = 86_400_000

function scalarFrom(type: AvroPrimitive['type'], props: Props): FromAvro {
  const logical = props.get('logicalType')
  switch (type) {
    case 'int':
      return intFrom(logical, props.get(AVRO_PROP.type))
    case 'long':
      if (logical !== 'timestamp-millis') return { schema: { type: 'int64' }, read: (from) => from.zigzag64() }
      return {
        schema: { type: 'int64', name: LOGICAL.timestamp, version: 1 },
        read: (from) => dateFromMs(Number(from.zigzag64())),
      }
    case 'bytes': {
      if (logical !== 'decimal') return { schema: { type: 'bytes' }, read: (from) => from.sized() }
      const { schema, scale } = decimalFrom(props)
      return { schema, read: (from) => ({ unscaled: unscaledOf(from, from.length()), scale }) }
    }
    case 'float':
      return { schema: { type: 'float32' }, read: (from) => from.float32LE() }
    case 'double':
      return { schema: { type: 'float64' }, read: (from) => from.float64LE() }
    case 'boolean':
      return { schema: { type: 'boolean' }, read: (from) => from.boolean() }
    default:
      return { schema: { type: 'string' }, read: (from) => from.text() }
  }
}

function intFrom(logical: Json | undefined, connectType: Json | undefined): FromAvro {
  if (logical === 'date') {
    const read: ReadValue = (from) => dateFromMs(from.zigzag32() * DAY_MS)
    return { schema: { type: 'int32', name: LOGICAL.date, version: 1 }, read }
  }
  const read: ReadValue = (from) => from.zigzag32()
  if (logical === 'time-millis') return { schema: { type: 'int32', name: LOGICAL.time, version: 1 }, read }
  if (connectType !== 'int8' && connectType !== 'int16') return { schema: { type: 'int32' }, read }
  return {
    schema: { type: connectType },
    read: (from) => {
      const value = from.zigzag32()
      if (isInteger(connectType, value)) return value
      // Java truncates to the low bits.
      throw new DataError(`expected ${connectType}, got ${valueLabel(value)}`)
    },
  }
}

function fixedFrom({ props, size }: AvroFixed): FromAvro {
  const { schema, scale } =
    props.get('logicalType') === 'decimal' ? decimalFrom(props) : { schema: { type: 'bytes' } as Schema }
  return {
    schema: { ...schema, parameters: { ...schema.parameters, [FIXED_SIZE]: String(size) } },
    read: (from) => (scale === undefined ? from.fixed(size) : { unscaled: unscaledOf(from, size), scale }),
  }
}

function decimalFrom(props: Props): { readonly schema: Schema; readonly scale: number } {
  const scale = props.has('scale') ? numberProp(props, 'scale') : 0
  if (scale === undefined) throw new DataError('scale must be specified and must be a number.')
  const schema = decimal(scale)
  const precision = numberProp(props, 'precision') ?? PRECISION_DEFAULT
  const parameters =
    precision === PRECISION_DEFAULT ? schema.parameters! : { ...schema.parameters, [AVRO_PRECISION]: String(precision) }
  return { schema: { ...schema, parameters }, scale }
}

function unscaledOf(from: AvroInput, length: number): bigint {
  return length >= 1 && length <= 6 ? BigInt(from.integer(length)) : bigintFromBytes(from.view(length))
}

function recordFrom(avro: AvroRecord, context: Context): FromAvro {
  const parts = avro.fields.map((field) => ({
    name: field.name,
    doc: field.doc,
    ...convert(field.schema, context, { fallback: field.default, doc: field.doc }),
  }))
  const docs: Record<string, string> = {}
  if (context.metadata && !context.discardTypeDocs) {
    if (avro.doc !== undefined) docs[RECORD_DOC] = avro.doc
    for (const { name, doc } of parts) if (doc !== undefined) docs[FIELD_DOC + name] = doc
  }
  return {
    schema: {
      type: 'struct',
      fields: parts.map(({ name, schema }) => ({ name, schema })),
      ...(Object.keys(docs).length > 0 && { parameters: docs }),
    },
    read: (from) => {
      if (parts.length === 0) from.valueWithoutBytes()
      const value: Record<string, unknown> = {}
      for (let index = 0; index < parts.length; index++) {
        const { name, read } = parts[index]!
        defineMember(value, name, read(from))
      }
      return value
    },
  }
}

function arrayFrom(avro: AvroArray, context: Context): FromAvro {
  const { schema, read } = convert(avro.items, context, {})
  return {
    schema: { type: 'array', items: schema },
    read: (from) => {
      const items: unknown[] = []
      from.blocks(() => {
        items.push(read(from))
      })
      return items
    },
  }
}

function entriesFrom(avro: AvroArray, context: Context): FromAvro {
  const { fields } = avro.items as AvroRecord
  const keyField = fields.find(({ name }) => name === 'key')
  const valueField = fields.find(({ name }) => name === 'value')
  if (keyField === undefined || valueField === undefined || fields.length !== 2) {
    throw new DataError(
      'Found map encoded as array of key-value pairs, but array elements do not match the expected format.',
    )
  }
  const key = convert(keyField.schema, context, {})
  const value = convert(valueField.schema, context, {})
  return {
    schema: { type: 'map', keys: key.schema, items: value.schema },
    read: (from) =>
      fields[0] === keyField ? readMap(from, key.read, value.read) : readMapOfValues(from, key.read, value.read),
  }
}

/** Reads entries that begin with their value. */
function readMapOfValues(from: AvroInput, readKey: ReadValue, readItem: ReadValue): ReadonlyMap<unknown, unknown> {
  const map = new Map<unknown, unknown>()
  from.blocks(() => {
    const item = readItem(from)
    map.set(readKey(from), item)
  })
  return map
}

function enumParameters(avro: AvroEnum, { metadata, shared, discardTypeDocs }: Context): Record<string, string> {
  const { simple, full } = avro.name
  const parameter = shared ? SUM_TYPE_NAMES.enum : AVRO_ENUM
  const words = avro.symbols.map((symbol, at) => [`${parameter}.${symbol}`, shared ? String(at) : symbol])
  return {
    ...(metadata && avro.doc !== undefined && { [discardTypeDocs ? ENUM_DOC_KEPT : ENUM_DOC + simple]: avro.doc }),
    ...(metadata && !discardTypeDocs && avro.default !== undefined && { [ENUM_DEFAULT + simple]: avro.default }),
    [parameter]: full,
    ...Object.fromEntries(words),
  }
}

function withMetadata(
  { schema, read }: FromAvro,
  avro: Exclude<AvroSchema, AvroUnion>,
  context: Context,
  { fallback, version, doc: fieldDoc }: Place,
): Schema {
  const { metadata, discardTypeDocs } = context
  const { props } = avro
  const typeDoc = 'doc' in avro ? avro.doc : undefined
  const doc = docOf(avro, context, fieldDoc)
  const ownVersion = numberProp(props, AVRO_PROP.version) ?? schema.version ?? version
  // For decimals, the name of the logical type takes precedence.
  const name =
    textProp(props, AVRO_PROP.name) ?? ('name' in avro && schema.name === undefined ? avro.name.full : undefined)
  const connectDefault = props.get(AVRO_PROP.default)
  const parameters = {
    ...schema.parameters,
    ...(metadata && texts(props.get(AVRO_PROP.parameters))),
    ...(metadata && fallback !== undefined && connectDefault === undefined && !discardTypeDocs && marked),
    ...(metadata && discardTypeDocs && typeDoc !== undefined && { [RECORD_DOC_KEPT]: typeDoc }),
  }
  const written = fallback ?? connectDefault
  return {
    ...schema,
    ...(doc !== undefined && { doc }),
    ...(ownVersion !== undefined && { version: ownVersion }),
    ...(name !== undefined && !name.startsWith(DEFAULT_RECORD_NAME) && { name }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(written !== undefined && written !== null && { default: connectForm(avro, read)(wireDefault(avro, written)) }),
  }
}

function docOf(
  avro: Exclude<AvroSchema, AvroUnion>,
  context: Context,
  fieldDoc: string | undefined,
): string | undefined {
  const connectDoc = textProp(avro.props, AVRO_PROP.doc)
  if (!context.discardTypeDocs) return context.metadata ? connectDoc : undefined
  return fieldDoc ?? ('doc' in avro ? avro.doc : undefined) ?? connectDoc
}

function texts(json: Json | undefined): Record<string, string> {
  if (!isObject(json)) return {}
  return Object.fromEntries([...json].flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])))
}

function textProp(props: Props, key: string): string | undefined {
  const value = props.get(key)
  return typeof value === 'string' ? value : undefined
}

function numberProp(props: Props, key: string): number | undefined {
  const value = props.get(key)
  return value instanceof JsonNumber ? value.value : undefined
}
