import { defineMember } from '../../formats/define-member.ts'
import { JsonNumber } from '../../formats/json-text.ts'
import {
  bigintFromBytes,
  DataError,
  decimalFromText,
  decimalScale,
  type IntegerType,
  isInteger,
  LOGICAL,
  rescale,
  type Schema,
  type SchemaType,
  valueLabel,
} from '../../sdk/index.ts'
import { dateFromMs } from '../date-from-ms.ts'
import { hasTextKeys } from './connect-json-writer.ts'

/**
 * The result of `parseExact`: JSON in which integers beyond 2^53 are bigints, and other numbers that a double cannot
 * represent exactly are a `JsonNumber` with their literal.
 */
export type Exact =
  | null
  | boolean
  | string
  | number
  | bigint
  | JsonNumber
  | readonly Exact[]
  | { readonly [key: string]: Exact }
  | undefined

export type ReadOptions = {
  readonly nullsToDefaults: boolean
  /** The form of maps whose keys are not strings: `[key, value]` pairs (default) or `{key, value}` objects. */
  readonly entries?: 'pairs' | 'objects'
  /** Whether a struct is represented by its single non-null field. Default: none are. */
  readonly isChoice?: (schema: Schema) => boolean
}

/** Throws a `DataError` if the JSON does not match the schema of the reader. */
export type JsonReader = (json: Exact) => unknown

/** A number that a double cannot represent exactly has at least this many digits. */
const MANY_DIGITS = /\d[\d.]{14,}\d/

/** Length of the shortest text that the expression matches. */
const DIGITS_MIN = 16
const [DOT, ZERO, NINE] = [0x2e, 0x30, 0x39]

export function parseExact(text: string): Exact {
  if (!hasLongRun(text) || !MANY_DIGITS.test(text)) return JSON.parse(text) as Exact
  return JSON.parse(text, exactNumber as (key: string, value: unknown) => unknown) as Exact
}

/**
 * Whether a text contains that many digits and dots in a row. Only every 16th character is read, and its neighbours if
 * it is one of them, which takes a tenth of the time of the expression.
 */
function hasLongRun(text: string): boolean {
  for (let at = DIGITS_MIN - 1; at < text.length; at += DIGITS_MIN) {
    let first = at
    while (first > at - DIGITS_MIN && isDigitOrDot(text.charCodeAt(first))) first -= 1
    if (first === at) continue
    let end = at + 1
    while (end < first + DIGITS_MIN + 1 && isDigitOrDot(text.charCodeAt(end))) end += 1
    if (end - first > DIGITS_MIN) return true
  }
  return false
}

function isDigitOrDot(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === DOT
}

function exactNumber(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value
  if (/^-?\d+$/.test(source)) return BigInt(source)
  const isExact = source === String(value) || source.replace(/[eE].*|\D/g, '').length <= 15
  return isExact ? value : new JsonNumber(source)
}

/** Converts values without a schema. A `JsonNumber` becomes the nearest double. */
export function plainValue(json: Exact): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (json instanceof JsonNumber) return json.value
  if (Array.isArray(json)) return json.map(plainValue)
  const values: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(json)) defineMember(values, key, plainValue(value))
  return values
}

export function jsonReader(schema: Schema, options: ReadOptions): JsonReader {
  const read = presentReader(schema, options)
  const fallback = options.nullsToDefaults ? (schema.default ?? null) : null
  const nullable = schema.optional || fallback !== null
  return (json) => {
    if (json !== null && json !== undefined) return read(json)
    if (!nullable) throw new DataError(`Invalid null value for required ${schema.type.toUpperCase()} field`)
    return fallback
  }
}

function presentReader(schema: Schema, options: ReadOptions): JsonReader {
  switch (schema.name) {
    case LOGICAL.decimal:
      return decimalReader(schema)
    case LOGICAL.date:
      return (json) => dateFromMs(Number(integer(schema, json)) * 86_400_000)
    case LOGICAL.timestamp:
      return (json) => dateFromMs(Number(integer(schema, json)))
    default:
      return PRESENT[schema.type](schema, options)
  }
}

const integerReader =
  (schema: Schema): JsonReader =>
  (json) =>
    integer(schema, json)
const PRESENT: Readonly<Record<SchemaType, (schema: Schema, options: ReadOptions) => JsonReader>> = {
  int8: integerReader,
  int16: integerReader,
  int32: integerReader,
  int64: integerReader,
  float32: (schema) => (json) => Math.fround(float(schema, json)),
  float64: (schema) => (json) => float(schema, json),
  boolean: (schema) => (json) => (typeof json === 'boolean' ? json : misfit(schema, json)),
  string: (schema) => (json) => (typeof json === 'string' ? json : misfit(schema, json)),
  bytes: (schema) => (json) => (typeof json === 'string' ? bytesFromBase64(schema, json) : misfit(schema, json)),
  array: (schema, options) => {
    const item = jsonReader(schema.items!, options)
    return (json) => (Array.isArray(json) ? json.map(item) : misfit(schema, json))
  },
  map: mapReader,
  struct: structReader,
}

function mapReader(schema: Schema, options: ReadOptions): JsonReader {
  const item = jsonReader(schema.items!, options)
  if (options.entries === 'objects' ? hasTextKeys(schema) : schema.keys!.type === 'string') {
    return (json) => {
      if (!isExactObject(json)) return misfit(schema, json)
      return new Map(Object.entries(json).map(([key, value]) => [key, item(value)]))
    }
  }
  const key = jsonReader(schema.keys!, options)
  const entryOf = options.entries === 'objects' ? objectEntry : pairEntry
  return (json) => {
    if (!Array.isArray(json)) return misfit(schema, json)
    return new Map(
      json.map((entry: Exact) => {
        const [one, value] = entryOf(entry) ?? misfit(schema, entry)
        return [key(one), item(value)]
      }),
    )
  }
}

function pairEntry(entry: Exact): readonly [Exact, Exact] | undefined {
  return Array.isArray(entry) && entry.length === 2 ? [entry[0], entry[1]] : undefined
}

function objectEntry(entry: Exact): readonly [Exact, Exact] | undefined {
  return isExactObject(entry) ? [entry['key'], entry['value']] : undefined
}

/**
 * Chooses a field as Java does: the first whose scalar or list type matches, otherwise the struct with the most
 * matching members.
 */
function choiceReader(schema: Schema, options: ReadOptions): JsonReader {
  const fields = (schema.fields ?? []).map((one) => ({ ...one, read: presentReader(one.schema, options) }))
  const names = fields.map(({ name }) => [name, null] as const)
  return (json) => {
    const chosen = fields.find((field) => looksLike(field.schema, json)) ?? mostAlike(fields, json)
    if (chosen === undefined) return misfit(schema, json)
    return { ...Object.fromEntries(names), [chosen.name]: chosen.read(json) }
  }
}

function mostAlike<One extends { readonly schema: Schema }>(fields: readonly One[], json: Exact): One | undefined {
  const alike = fields.map((field) => ({ field, members: membersOf(field.schema, json) }))
  const most = Math.max(...alike.map(({ members }) => members))
  return most > 0 ? alike.find(({ members }) => members === most)?.field : undefined
}

function looksLike({ type, name }: Schema, json: Exact): boolean {
  switch (type) {
    case 'boolean':
    case 'string':
      return typeof json === type
    case 'float32':
    case 'float64':
      return isNumber(json)
    case 'bytes':
      return name === LOGICAL.decimal && isNumber(json)
    case 'array':
      return Array.isArray(json)
    case 'map':
      return Array.isArray(json) || isExactObject(json)
    case 'struct':
      return false
    default:
      return typeof json === 'bigint' || Number.isInteger(json)
  }
}

/** Counts the members that exist in a struct, including nested structs. */
function membersOf({ type, fields = [] }: Schema, json: Exact): number {
  if (type !== 'struct' || !isExactObject(json)) return 0
  const there = fields.filter(({ name }) => Object.hasOwn(json, name))
  return there.reduce((sum, { name, schema }) => sum + 1 + membersOf(schema, json[name]), 0)
}

function isNumber(json: Exact): boolean {
  return typeof json === 'number' || typeof json === 'bigint' || json instanceof JsonNumber
}

function structReader(schema: Schema, options: ReadOptions): JsonReader {
  if (options.isChoice?.(schema)) return choiceReader(schema, options)
  const fields = (schema.fields ?? []).map((field) => ({ name: field.name, read: jsonReader(field.schema, options) }))
  return (json) => {
    if (!isExactObject(json)) return misfit(schema, json)
    const value: Record<string, unknown> = {}
    for (const { name, read } of fields) defineMember(value, name, read(Object.hasOwn(json, name) ? json[name] : null))
    return value
  }
}

/** Accepts numbers and base64 of the unscaled bytes, regardless of `decimal.format`, as Java does. */
function decimalReader(schema: Schema): JsonReader {
  const scale = decimalScale(schema)
  return (json) => {
    if (typeof json === 'string') return { unscaled: bigintFromBytes(bytesFromBase64(schema, json)), scale }
    if (typeof json === 'number' || typeof json === 'bigint') return decimalFromText(String(json), scale)
    if (json instanceof JsonNumber) return rescale(decimalFromText(json.literal), scale)
    return misfit(schema, json)
  }
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Rejects text that is not base64, as Java does. `Buffer` would decode any text: `12.34` would be another number. */
function bytesFromBase64(schema: Schema, text: string): Buffer {
  const isBase64 = (plain: string) => plain.length % 4 === 0 && BASE64.test(plain)
  if (isBase64(text) || isBase64(text.replace(/\s+/g, ''))) return Buffer.from(text, 'base64')
  throw new DataError(`expected ${schema.name ?? schema.type} in base64, got ${valueLabel(text)}`)
}

/** Rejects numbers out of range; Java truncates them to the low bits. */
function integer(schema: Schema, json: Exact): number | bigint {
  return isInteger(schema.type as IntegerType, json) ? json : misfit(schema, json)
}

function float(schema: Schema, json: Exact): number {
  if (typeof json === 'number') return json
  if (typeof json === 'bigint') return Number(json)
  if (json instanceof JsonNumber) return json.value
  // The form in which Java writes values that JSON numbers cannot represent.
  if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return Number(json)
  return misfit(schema, json)
}

export function isExactObject(json: Exact): json is { readonly [key: string]: Exact } {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof JsonNumber)
}

function misfit(schema: Schema, json: Exact): never {
  throw new DataError(`expected ${schema.name ?? schema.type}, got ${valueLabel(json)}`)
}
