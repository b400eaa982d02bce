import { javaDouble } from '../../common/java-double.ts'
import { printString } from '../../formats/json-text.ts'
import { toBuffer } from '../../sdk/bytes.ts'
import {
  bigintToBytes,
  DataError,
  decimalScale,
  type Field,
  type IntegerType,
  isDecimal,
  isInteger,
  LOGICAL,
  type Schema,
  type SchemaType,
  unscaledAt,
  valueLabel,
} from '../../sdk/index.ts'
import { javaDecimal, shortestFloat } from '../java-text.ts'

export type WriteOptions = {
  readonly decimals: 'BASE64' | 'NUMERIC'
  /** Whether to write the default of the schema where the value is null. */
  readonly nullsToDefaults: boolean
  /** The form of maps whose keys are not strings: `[key, value]` pairs (default) or `{key, value}` objects. */
  readonly entries?: 'pairs' | 'objects'
  /** Whether a map is written as an object. Default: if its keys are strings, with `entries: 'objects'` not optional ones. */
  readonly isObject?: (schema: Schema) => boolean
  /** Whether only the non-null field of a struct is written, without its name. Default: of none. */
  readonly isChoice?: (schema: Schema) => boolean
}

/** Serializes a value to JSON. Throws a `DataError` if the value does not match the schema of the writer. */
export type JsonWriter = (value: unknown) => string

/** Creates a writer for a schema. Decisions that do not depend on a value are made once, here. */
export function jsonWriter(schema: Schema, options: WriteOptions): JsonWriter {
  const write = presentWriter(schema, options)
  const absent = absentText(schema, write, options)
  return (value) => {
    if (value !== null && value !== undefined) return write(value)
    if (absent === undefined)
      throw new DataError(`expected ${schema.name ?? schema.type}, got null: the schema is not optional`)
    return absent
  }
}

/** Serializes a value without a schema: JSON values, bytes, maps and bigints. */
export function plainJson(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'number') return Number.isInteger(value) ? String(value) : floatText(value)
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Uint8Array) return base64(value)
  if (value instanceof Date) return String(value.getTime())
  if (isDecimal(value))
    throw new DataError('a decimal without a schema cannot be written as JSON: its scale would be lost')
  if (Array.isArray(value)) return `[${value.map(plainJson).join(',')}]`
  if (value instanceof Map) return plainMap(value)
  return `{${Object.entries(value)
    .map(([key, item]) => `${quote(key)}:${plainJson(item)}`)
    .join(',')}}`
}

/**
 * Quotes text like Jackson, because the bytes of a key determine its partition: surrogate pairs and control characters
 * are written as `\uXXXX`.
 */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  return printString(text).replace(/[\ud800-\udfff]/g, (half) => `\\u${half.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** Printable ASCII without the quotation mark and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/

function absentText(schema: Schema, write: JsonWriter, { nullsToDefaults }: WriteOptions): string | undefined {
  if (nullsToDefaults && schema.default !== undefined && schema.default !== null) return write(schema.default)
  return schema.optional ? 'null' : undefined
}

function presentWriter(schema: Schema, options: WriteOptions): JsonWriter {
  switch (schema.name) {
    case LOGICAL.decimal:
      return decimalWriter(schema, options)
    case LOGICAL.date:
      return checked(schema, isDate, (value) => String(Math.floor(value.getTime() / 86_400_000)))
    case LOGICAL.timestamp:
      return checked(schema, isDate, (value) => String(value.getTime()))
    default:
      return PRESENT[schema.type](schema, options)
  }
}

function integerWriter(schema: Schema): JsonWriter {
  const type = schema.type as IntegerType
  return checked(schema, (value) => isInteger(type, value), String)
}

/** A JSON number keeps the scale of the value; bytes have the scale of the schema. */
function decimalWriter(schema: Schema, { decimals }: WriteOptions): JsonWriter {
  if (decimals === 'NUMERIC') return checked(schema, isDecimal, javaDecimal)
  const scale = decimalScale(schema)
  return checked(schema, isDecimal, (value) => base64(bigintToBytes(unscaledAt(scale, value))))
}

const PRESENT: Readonly<Record<SchemaType, (schema: Schema, options: WriteOptions) => JsonWriter>> = {
  int8: integerWriter,
  int16: integerWriter,
  int32: integerWriter,
  int64: integerWriter,
  float32: (schema) => checked(schema, isNumber, (value) => floatText(shortestFloat(value))),
  float64: (schema) => checked(schema, isNumber, floatText),
  boolean: (schema) => checked(schema, (value) => typeof value === 'boolean', String),
  string: (schema) => checked(schema, (value) => typeof value === 'string', quote),
  bytes: (schema) => checked(schema, (value) => value instanceof Uint8Array, base64),
  array: (schema, options) => {
    const item = partWriter(schema.items, options)
    return checked(
      schema,
      (value): value is unknown[] => Array.isArray(value),
      (value) => `[${value.map(item).join(',')}]`,
    )
  },
  map: (schema, options) => mapWriter(schema, options),
  struct: (schema, options) => structWriter(schema, options),
}

/** Whether a map is written as a JSON object: its keys must be strings that are not optional. */
export function hasTextKeys({ keys }: Schema): boolean {
  return keys!.type === 'string' && !keys!.optional
}

/** Arrays and maps of mixed elements, which can occur in headers, have no element schema. */
function partWriter(schema: Schema | undefined, options: WriteOptions): JsonWriter {
  return schema === undefined ? plainJson : jsonWriter(schema, options)
}

function mapWriter(schema: Schema, options: WriteOptions): JsonWriter {
  if (schema.keys === undefined) throw new DataError('a map without a schema for its keys cannot be written as JSON')
  const item = partWriter(schema.items, options)
  const isObject = options.entries === 'objects' ? hasTextKeys : ({ keys }: Schema) => keys!.type === 'string'
  if ((options.isObject ?? isObject)(schema)) {
    return checked(
      schema,
      isMap,
      (map) => `{${[...map].map(([key, value]) => `${quote(key as string)}:${item(value)}`).join(',')}}`,
    )
  }
  const key = jsonWriter(schema.keys!, options)
  const entry =
    options.entries === 'objects'
      ? (one: unknown, value: unknown) => `{"key":${key(one)},"value":${item(value)}}`
      : (one: unknown, value: unknown) => `[${key(one)},${item(value)}]`
  return checked(schema, isMap, (map) => `[${[...map].map(([one, value]) => entry(one, value)).join(',')}]`)
}

function structWriter(schema: Schema, options: WriteOptions): JsonWriter {
  if (options.isChoice?.(schema)) return choiceWriter(schema, options)
  const members = (schema.fields ?? []).map(
    (field, index) => new MemberWriter(`${index === 0 ? '{' : ','}${quote(field.name)}:`, field, options),
  )
  /** The last text, if all values were kept. */
  let last = ''
  return (value) => {
    if (!isStruct(value)) throw misfit(schema, value)
    if (last !== '' && members.every((member) => member.isKept(value[member.name]))) return last
    last = ''
    let text = ''
    let isKept = true
    for (const member of members) {
      const one = value[member.name]
      text += member.write(one)
      isKept &&= member.isKept(one)
    }
    text = text === '' ? '{}' : `${text}}`
    if (isKept) last = text
    return text
  }
}

/** A longer text is not kept: each writer keeps one for each of its members. */
const KEPT_LENGTH_MAX = 64
/** Types whose equal values have the same text, unlike 0 and -0 of numbers with a fraction. */
const KEPT_TYPES: ReadonlySet<SchemaType> = new Set(['int8', 'int16', 'int32', 'int64', 'boolean', 'string'])
const NO_VALUE = Symbol('no value')

/**
 * Writes one member of a struct and keeps its text, because consecutive structs have many equal values: the names and times in
 * the `source` of change events, the columns of a row that did not change.
 */
class MemberWriter {
  readonly name: string
  readonly #start: string
  readonly #write: JsonWriter
  readonly #canKeep: boolean
  #value: unknown = NO_VALUE
  #text = ''

  constructor(start: string, { name, schema }: Field, options: WriteOptions) {
    this.name = name
    this.#start = start
    this.#write = jsonWriter(schema, options)
    this.#canKeep = KEPT_TYPES.has(schema.type)
  }

  isKept(value: unknown): boolean {
    return this.#value === value
  }

  write(value: unknown): string {
    if (this.#value === value) return this.#text
    const text = this.#start + this.#write(value)
    if (this.#canKeep) this.#keep(value, text)
    return text
  }

  #keep(value: unknown, text: string): void {
    // Values of logical types are objects, which can change.
    const isKept =
      typeof value === 'string' ? value.length <= KEPT_LENGTH_MAX : typeof value !== 'object' || value === null
    this.#value = isKept ? value : NO_VALUE
    this.#text = isKept ? text : ''
  }
}

function choiceWriter(schema: Schema, options: WriteOptions): JsonWriter {
  const fields = (schema.fields ?? []).map(({ name, schema: one }) => ({ name, write: jsonWriter(one, options) }))
  return (value) => {
    if (!isStruct(value)) throw misfit(schema, value)
    const chosen = fields.find(({ name }) => value[name] !== null && value[name] !== undefined)
    if (chosen === undefined) throw new DataError(`${schema.name}: none of the fields has a value`)
    return chosen.write(value[chosen.name])
  }
}

function checked<T>(schema: Schema, fits: (value: unknown) => value is T, write: (value: T) => string): JsonWriter {
  return (value) => {
    if (!fits(value)) throw misfit(schema, value)
    return write(value)
  }
}

function misfit(schema: Schema, value: unknown): DataError {
  return new DataError(`expected ${schema.name ?? schema.type}, got ${valueLabel(value)}`)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime())
}

function isMap(value: unknown): value is ReadonlyMap<unknown, unknown> {
  return value instanceof Map
}

function isStruct(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function base64(bytes: Uint8Array): string {
  return `"${toBuffer(bytes).toString('base64')}"`
}

function floatText(value: number): string {
  return Number.isInteger(value) && value < 1e7 && value > -1e7 && value !== 0 ? `${value}.0` : javaDouble(value)
}

function plainMap(map: ReadonlyMap<unknown, unknown>): string {
  const entries = [...map]
  if (entries.every(([key]) => typeof key === 'string')) {
    return `{${entries.map(([key, item]) => `${quote(key as string)}:${plainJson(item)}`).join(',')}}`
  }
  return `[${entries.map(([key, item]) => `[${plainJson(key)},${plainJson(item)}]`).join(',')}]`
}
