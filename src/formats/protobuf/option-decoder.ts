import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { wireTypeOf } from './option-encoder.ts'
import { FieldValues, type OptionField, type OptionMessage, type OptionTypes } from './option-types.ts'
import type { Option, OptionValue } from './proto-file.ts'
import { bytesFromText, textFromBytes } from './string-literal.ts'

/** Messages in messages; those of options are as deep as a text can be, which is limited, too. */
const NESTING_MAX = 50

/**
 * Decodes the options message of a descriptor: each option in the order of its first value, and each value of a repeated
 * option. What is not declared is omitted, because a descriptor contains numbers only. Throws an `Error` for invalid data.
 */
export function decodeOptions(message: OptionMessage, bytes: Uint8Array, types: OptionTypes): readonly Option[] {
  return new OptionDecoder(types).valuesIn(message, bytes, 0).flatMap(({ field, values }) => {
    const parenthesized = field.key.startsWith('[')
    const name = parenthesized ? field.key.slice(1, -1) : field.key
    return values.map((value) => ({ name, parenthesized, value }))
  })
}

type Decoded = { readonly field: OptionField; readonly values: readonly OptionValue[] }

/** A value on the wire: of a scalar, or the encoded fields of a message. */
type WireValue = OptionValue | Uint8Array

class OptionDecoder {
  readonly #types: OptionTypes

  constructor(types: OptionTypes) {
    this.#types = types
  }

  valuesIn(message: OptionMessage, bytes: Uint8Array, depth: number): readonly Decoded[] {
    if (depth > NESTING_MAX) throw new Error(`options nested deeper than ${NESTING_MAX}`)
    const found = new FieldValues<WireValue>()
    const reader = new BinaryReader(bytes)
    while (reader.pos < reader.len) {
      const [number, wireType] = reader.tag()
      const field = message.numbered(number)
      const values = field && readField(field, wireType, reader)
      if (values === undefined) reader.skip(wireType, number)
      else found.add(field?.key ?? '', field, values)
    }
    return [...found.entries()].flatMap(([, { field, values }]) =>
      field === undefined ? [] : [{ field, values: this.#decoded(field, values, depth) }],
    )
  }

  #decoded(field: OptionField, values: readonly WireValue[], depth: number): readonly OptionValue[] {
    const message = field.message()
    const decode = (value: WireValue) =>
      value instanceof Uint8Array ? this.#message(message, value, depth + 1) : value
    if (field.isRepeated) return values.map(decode)
    const parts = values.filter((value) => value instanceof Uint8Array)
    // The parts of a message are merged, and the last one of several scalars is the value.
    const single = parts.length > 0 ? Buffer.concat(parts) : values.at(-1)
    return single === undefined ? [] : [decode(single)]
  }

  #message(message: OptionMessage | undefined, bytes: Uint8Array, depth: number): OptionValue {
    const fields = message ? this.valuesIn(message, bytes, depth) : []
    const entries = new Map(
      fields.map(({ field, values }): [string, OptionValue] => {
        const [only] = values
        return [field.key, field.isRepeated || only === undefined ? { kind: 'list', items: values } : only]
      }),
    )
    const expanded = message?.fullName === 'google.protobuf.Any' ? this.#expandedAny(entries, depth) : undefined
    return { kind: 'map', entries: expanded ?? entries }
  }

  /** `google.protobuf.Any` in the form that has the fields of its message, if that is declared. */
  #expandedAny(any: ReadonlyMap<string, OptionValue>, depth: number): ReadonlyMap<string, OptionValue> | undefined {
    const [url, value] = [any.get('type_url'), any.get('value')]
    const [, typeName] = url?.kind === 'string' ? (/\/([\w.]+)$/.exec(url.text) ?? []) : []
    const message = typeName === undefined ? undefined : this.#types.declared(typeName)
    if (url?.kind !== 'string' || message === undefined) return undefined
    const bytes = value?.kind === 'string' ? bytesFromText(value.text) : new Uint8Array()
    return new Map([[`[${url.text}]`, this.#message(message, bytes, depth + 1)]])
  }
}

/** Undefined if the field has another type on the wire. */
function readField(field: OptionField, wireType: WireType, reader: BinaryReader): readonly WireValue[] | undefined {
  const { type = '' } = field
  if (type === 'group') {
    if (wireType !== WireType.StartGroup) return undefined
    const fields = reader.skip(wireType, field.number)
    return [fields.subarray(0, fields.length - tagLength(field.number))]
  }
  if (type === 'message' || type === 'string' || type === 'bytes') {
    if (wireType !== WireType.LengthDelimited) return undefined
    const bytes = reader.bytes()
    return [type === 'message' ? bytes : { kind: 'string', text: textFromBytes(bytes) }]
  }
  const own = wireTypeOf(type)
  if (wireType === own) return [readScalar(field, reader)]
  if (wireType !== WireType.LengthDelimited || type === '') return undefined
  const packed = new BinaryReader(reader.bytes())
  const values: OptionValue[] = []
  while (packed.pos < packed.len) values.push(readScalar(field, packed))
  return values
}

/** The length of the tag that ends a group. */
function tagLength(number: number): number {
  return new BinaryWriter().tag(number, WireType.EndGroup).finish().length
}

function readScalar(field: OptionField, reader: BinaryReader): OptionValue {
  const { type = '' } = field
  if (type === 'bool') return { kind: 'word', text: String(reader.bool()) }
  if (type === 'float') return { kind: 'word', text: floatText(...floatOf(reader.fixed32())) }
  if (type === 'double') return { kind: 'word', text: floatText(...doubleOf(BigInt(reader.fixed64()))) }
  if (type === 'enum') {
    const number = reader.int32()
    return { kind: 'word', text: field.constants?.names.get(number) ?? String(number) }
  }
  return { kind: 'word', text: String(reader[type as IntegerType]()) }
}

type IntegerType =
  | 'int32'
  | 'uint32'
  | 'sint32'
  | 'fixed32'
  | 'sfixed32'
  | 'int64'
  | 'uint64'
  | 'sint64'
  | 'fixed64'
  | 'sfixed64'

function floatOf(bits: number): readonly [value: number, isNegative: boolean] {
  const value = new Float32Array(new Uint32Array([bits]).buffer)[0] ?? 0
  return [shortest(value), bits >>> 31 === 1]
}

function doubleOf(bits: bigint): readonly [value: number, isNegative: boolean] {
  return [new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? 0, bits >> 63n === 1n]
}

/** The sign is separate, because zero and NaN have it, too. */
function floatText(value: number, isNegative: boolean): string {
  const sign = isNegative ? '-' : ''
  if (Number.isNaN(value)) return `${sign}nan`
  if (!Number.isFinite(value)) return `${sign}inf`
  return value === 0 && isNegative ? '-0.0' : String(value)
}

/** A number with the fewest digits that is the same in single precision. */
function shortest(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}
