import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { OptionField, OptionMessage, OptionTypes } from './option-types.ts'
import type { Option, OptionValue } from './proto-file.ts'
import { bytesFromText } from './string-literal.ts'

/** Thrown for an option that a compiler rejects. */
export class InvalidOption extends Error {
  override readonly name = 'InvalidOption'
}

/**
 * Encodes options as the options message of a descriptor. `scope` is where the names of extensions are resolved. An option
 * that is not declared is omitted. Throws `InvalidOption` for a value of another type.
 */
export function encodeOptions(
  message: OptionMessage,
  options: readonly Option[],
  resolve: { readonly types: OptionTypes; readonly scope: readonly string[] },
): Uint8Array {
  const encoder = new OptionEncoder(resolve.types, resolve.scope)
  const writer = new BinaryWriter()
  for (const option of options) encoder.writeOption(message, option, writer)
  return writer.finish()
}

class OptionEncoder {
  readonly #types: OptionTypes
  readonly #scope: readonly string[]

  constructor(types: OptionTypes, scope: readonly string[]) {
    this.#types = types
    this.#scope = scope
  }

  writeOption(outer: OptionMessage, option: Option, to: BinaryWriter): void {
    const { name, inner } = firstName(option)
    const field = option.parenthesized ? this.#types.extension(name, this.#scope) : outer.field(name)
    if (field === undefined) return
    if (inner === undefined) {
      this.#writeValue(field, option.value, to)
      return
    }
    const message = field.message()
    if (message === undefined) throw new InvalidOption(`the option ${field.key} is not a message`)
    if (!inner.parenthesized && message.field(firstName(inner).name) === undefined) {
      throw new InvalidOption(`${message.fullName} has no field ${firstName(inner).name}`)
    }
    writeMessage(field, to, (inside) => this.writeOption(message, inner, inside))
  }

  #writeValue(field: OptionField, value: OptionValue, to: BinaryWriter): void {
    if (value.kind === 'list') {
      for (const item of value.items) this.#writeValue(field, item, to)
      return
    }
    const message = field.message()
    if (message === undefined) {
      writeScalar(field, value, to)
      return
    }
    if (value.kind !== 'map') throw new InvalidOption(`the option ${field.key} expects a message in braces`)
    writeMessage(field, to, (inside) => this.#writeEntries(message, value.entries, inside))
  }

  #writeEntries(message: OptionMessage, entries: ReadonlyMap<string, OptionValue>, to: BinaryWriter): void {
    for (const [key, value] of entries) {
      const field = message.field(key)
      if (field) this.#writeValue(field, value, to)
      else this.#writeAny(message, key, value, to)
    }
  }

  /** Writes `[type.googleapis.com/pkg.M]: { … }`, the expanded form of `google.protobuf.Any`. */
  #writeAny({ fullName }: OptionMessage, key: string, value: OptionValue, to: BinaryWriter): void {
    const [, url, typeName = ''] = /^\[(.+\/(.+))\]$/.exec(key) ?? []
    const message = url === undefined || fullName !== 'google.protobuf.Any' ? undefined : this.#types.declared(typeName)
    if (url === undefined || message === undefined || value.kind !== 'map') {
      throw new InvalidOption(`${fullName} has no field ${key}`)
    }
    to.tag(1, WireType.LengthDelimited).string(url).tag(2, WireType.LengthDelimited).fork()
    this.#writeEntries(message, value.entries, to)
    to.join()
  }
}

/** The first name of a built-in option can have several parts, as `features.field_presence`. */
function firstName(option: Option): { readonly name: string; readonly inner: Option | undefined } {
  const dot = option.parenthesized ? -1 : option.name.indexOf('.')
  if (dot >= 0) return { name: option.name.slice(0, dot), inner: { ...option, name: option.name.slice(dot + 1) } }
  return { name: option.name, inner: option.value.kind === 'option' ? option.value.option : undefined }
}

function writeMessage(field: OptionField, to: BinaryWriter, write: (to: BinaryWriter) => void): void {
  if (field.type === 'group') {
    to.tag(field.number, WireType.StartGroup)
    write(to)
    to.tag(field.number, WireType.EndGroup)
    return
  }
  to.tag(field.number, WireType.LengthDelimited).fork()
  write(to)
  to.join()
}

function writeScalar(field: OptionField, value: OptionValue, to: BinaryWriter): void {
  const { type = '', number } = field
  if (value.kind === 'string' && (type === 'string' || type === 'bytes')) {
    to.tag(number, WireType.LengthDelimited).bytes(bytesFromText(value.text))
    return
  }
  const isWritten = value.kind === 'word' && ENCODERS[type]?.(to, value.text, field)
  if (isWritten) return
  const found = 'text' in value ? `'${value.text}'` : 'a message'
  throw new InvalidOption(`the option ${field.key} expects a value of type ${type}, not ${found}`)
}

/** Writes a value that is not in quotes, and returns false if it is of another type. Throws for a number that is out of range. */
type Encoder = (to: BinaryWriter, text: string, field: OptionField) => boolean

function encoder<Value>(
  parse: (text: string, field: OptionField) => Value | undefined,
  write: (to: BinaryWriter, value: Value) => unknown,
): Encoder {
  return (to, text, field) => {
    const value = parse(text, field)
    if (value === undefined) return false
    write(to.tag(field.number, wireTypeOf(field.type ?? '')), value)
    return true
  }
}

const ENCODERS: Readonly<Record<string, Encoder>> = {
  bool: encoder(booleanOf, (to, value) => to.bool(value)),
  enum: encoder(constantOf, (to, value) => to.int32(value)),
  double: encoder(floatOf, (to, value) => to.double(value)),
  float: encoder(floatOf, (to, value) => to.float(Math.fround(value))),
  int32: encoder(integerOf, (to, value) => to.int32(Number(value))),
  sint32: encoder(integerOf, (to, value) => to.sint32(Number(value))),
  uint32: encoder(integerOf, (to, value) => to.uint32(Number(value))),
  fixed32: encoder(integerOf, (to, value) => to.fixed32(Number(value))),
  sfixed32: encoder(integerOf, (to, value) => to.sfixed32(Number(value))),
  int64: encoder(integerOf, (to, value) => to.int64(value)),
  sint64: encoder(integerOf, (to, value) => to.sint64(value)),
  uint64: encoder(integerOf, (to, value) => to.uint64(value)),
  fixed64: encoder(integerOf, (to, value) => to.fixed64(value)),
  sfixed64: encoder(integerOf, (to, value) => to.sfixed64(value)),
}

/** The wire type of a number, a boolean or an enum. */
export function wireTypeOf(type: string): WireType {
  if (type === 'double' || type.endsWith('fixed64')) return WireType.Bit64
  return type === 'float' || type.endsWith('fixed32') ? WireType.Bit32 : WireType.Varint
}

/** The text format has all of them. */
function booleanOf(text: string): boolean | undefined {
  if (['true', 'True', 't', '1'].includes(text)) return true
  return ['false', 'False', 'f', '0'].includes(text) ? false : undefined
}

function constantOf(text: string, { constants }: OptionField): number | undefined {
  const number = integerOf(text)
  return constants?.numbers.get(text) ?? (number === undefined ? undefined : Number(number))
}

function integerOf(text: string): bigint | undefined {
  const match = /^(-?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)$/.exec(text)
  if (match?.[2] === undefined) return undefined
  const value = BigInt(match[2].replace(/^0(?=\d)/, '0o'))
  return match[1] === '-' ? -value : value
}

function floatOf(text: string): number | undefined {
  const named = /^(-?)(inf|infinity|nan)f?$/i.exec(text)
  if (named?.[2] !== undefined) {
    const value = named[2].toLowerCase() === 'nan' ? Number.NaN : Number.POSITIVE_INFINITY
    return named[1] === '-' ? -value : value
  }
  const integer = integerOf(text)
  if (integer !== undefined) return Number(integer)
  return /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[fF]?$/.test(text) ? Number(text.replace(/[fF]$/, '')) : undefined
}
