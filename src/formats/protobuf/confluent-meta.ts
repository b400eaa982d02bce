import type { UnknownField } from '@bufbuild/protobuf'
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import type { Option, OptionValue } from './proto-file.ts'
import { confluentMetaOf } from './tags.ts'

// `confluent/meta.proto` extends the options of files, messages, fields, enums and enum values with a `Meta` field. It
// always has this number.
const META_FIELD = 1088
const DOC = 1
const PARAMS = 2
const TAGS = 3

/** The names of the extensions, by the option message that they extend. */
const META_NAMES: Readonly<Record<string, string>> = {
  'google.protobuf.FileOptions': 'confluent.file_meta',
  'google.protobuf.MessageOptions': 'confluent.message_meta',
  'google.protobuf.FieldOptions': 'confluent.field_meta',
  'google.protobuf.EnumOptions': 'confluent.enum_meta',
  'google.protobuf.EnumValueOptions': 'confluent.enum_value_meta',
}

/**
 * Encodes the meta option as a compiler does. `typeName` is the option message, such as `google.protobuf.FieldOptions`.
 */
export function writeMeta(typeName: string, options: readonly Option[]): UnknownField | undefined {
  const name = META_NAMES[typeName]
  const entries = name === undefined ? undefined : confluentMetaOf(options, name)
  if (entries === undefined || entries.size === 0) return undefined
  const meta = new BinaryWriter()
  for (const text of textsIn(entries.get('doc'))) meta.tag(DOC, WireType.LengthDelimited).string(text)
  for (const param of itemsIn(entries.get('params'))) {
    if (param.kind !== 'map') continue
    meta.tag(PARAMS, WireType.LengthDelimited).fork()
    for (const [at, key] of ['key', 'value'].entries()) {
      for (const text of textsIn(param.entries.get(key))) meta.tag(at + 1, WireType.LengthDelimited).string(text)
    }
    meta.join()
  }
  for (const text of textsIn(entries.get('tags'))) meta.tag(TAGS, WireType.LengthDelimited).string(text)
  // The data of an unknown field includes its length prefix.
  const data = new BinaryWriter().bytes(meta.finish()).finish()
  return { no: META_FIELD, wireType: WireType.LengthDelimited, data }
}

/** Decodes the meta option of compiled options; undefined if there is none. Throws an `Error` for invalid bytes. */
export function readMeta(typeName: string, unknown: readonly UnknownField[] = []): Option | undefined {
  const name = META_NAMES[typeName]
  const written = unknown.filter(({ no, wireType }) => no === META_FIELD && wireType === WireType.LengthDelimited)
  if (name === undefined || written.length === 0) return undefined
  const fields = written.flatMap(({ data }) => fieldsIn(new BinaryReader(data).bytes()))
  const valuesOf = (number: number, read: (bytes: Uint8Array) => OptionValue) =>
    fields.filter(({ field }) => field === number).map(({ bytes }) => read(bytes))
  const [doc, params, tags] = [valuesOf(DOC, textOf), valuesOf(PARAMS, paramOf), valuesOf(TAGS, textOf)]
  const entries = new Map<string, OptionValue>([
    ...doc.slice(-1).map((value) => ['doc', value] as const),
    ...(params.length > 0 ? [['params', { kind: 'list', items: params }] as const] : []),
    ...(tags.length > 0 ? [['tags', { kind: 'list', items: tags }] as const] : []),
  ])
  return entries.size === 0 ? undefined : { name, parenthesized: true, value: { kind: 'map', entries } }
}

function paramOf(bytes: Uint8Array): OptionValue {
  const entries = new Map<string, OptionValue>([
    ['key', { kind: 'string', text: '' }],
    ['value', { kind: 'string', text: '' }],
  ])
  for (const { field, bytes: text } of fieldsIn(bytes)) entries.set(field === 1 ? 'key' : 'value', textOf(text))
  return { kind: 'map', entries }
}

/** The length-delimited fields of a message. */
function fieldsIn(message: Uint8Array): readonly { readonly field: number; readonly bytes: Uint8Array }[] {
  const reader = new BinaryReader(message)
  const fields: { field: number; bytes: Uint8Array }[] = []
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag()
    if (type === WireType.LengthDelimited) fields.push({ field, bytes: reader.bytes() })
    else reader.skip(type, field)
  }
  return fields
}

function textOf(bytes: Uint8Array): OptionValue {
  return { kind: 'string', text: Buffer.from(bytes).toString('utf8') }
}

function itemsIn(value: OptionValue | undefined): readonly OptionValue[] {
  if (value === undefined) return []
  return value.kind === 'list' ? value.items : [value]
}

function textsIn(value: OptionValue | undefined): readonly string[] {
  return itemsIn(value).flatMap((item) => (item.kind === 'string' ? [item.text] : []))
}
