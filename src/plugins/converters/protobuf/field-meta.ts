import { parseProto } from '../../../formats/protobuf/parser.ts'
import type { Message, Option, OptionValue, TypeElement } from '../../../formats/protobuf/proto-file.ts'
import { LOGICAL, type Schema } from '../../../sdk/index.ts'
import { PROTOBUF_PRECISION } from './names.ts'

/** The contents of Confluent's `(confluent.field_meta)` option, which describes types that Protobuf does not have. */
export type ProtobufFieldMeta = Readonly<Record<string, string>>

const OPTION = 'confluent.field_meta'

/** Returns the metadata for a field of this schema. For arrays, the metadata describes the items. */
export function protobufFieldMetaOf(schema: Schema): ProtobufFieldMeta {
  const { type, name, parameters = {} } = schema.type === 'array' ? schema.items! : schema
  if (name === LOGICAL.decimal) {
    const { scale, [PROTOBUF_PRECISION]: precision } = parameters
    return { ...(precision !== undefined && { precision }), ...(scale !== undefined && { scale }) }
  }
  return type === 'int8' || type === 'int16' ? { 'connect.type': type } : {}
}

/**
 * Returns the option's text as Java writes it: decimals put `value` before `key`. The file that defines the option is
 * not imported.
 */
export function metaText({ 'connect.type': type, ...decimal }: ProtobufFieldMeta): string {
  const params = Object.entries(decimal).map(([key, value]) => `{value: "${value}", key: "${key}"}`)
  if (type !== undefined) params.push(`{key: "connect.type", value: "${type}"}`)
  return params.length === 0 ? '' : ` [(${OPTION}) = {params: [${params.join(', ')}]}]`
}

/** Returns the metadata by the fully qualified name of the field. */
export function metasIn(text: string): ReadonlyMap<string, ProtobufFieldMeta> {
  const { types, packageName } = parseProto(text)
  return new Map(metasOf(types, packageName ?? ''))
}

function* metasOf(types: readonly TypeElement[], around: string): Generator<readonly [string, ProtobufFieldMeta]> {
  for (const type of types) {
    if (type.kind !== 'message') continue
    const name = around === '' ? type.name : `${around}.${type.name}`
    for (const { name: field, options } of fieldsOf(type)) {
      const meta = options.find((option) => option.parenthesized && option.name === OPTION)
      if (meta) yield [`${name}.${field}`, paramsOf(meta)]
    }
    yield* metasOf(type.types, name)
  }
}

function fieldsOf({ fields, oneofs }: Message) {
  return [...fields, ...oneofs.flatMap((oneof) => oneof.fields)]
}

function paramsOf({ value }: Option): ProtobufFieldMeta {
  const params = value.kind === 'map' ? value.entries.get('params') : undefined
  const items = params?.kind === 'list' ? params.items : params === undefined ? [] : [params]
  return Object.fromEntries(
    items.flatMap((item) =>
      item.kind === 'map' ? [[textOf(item.entries.get('key')), textOf(item.entries.get('value'))]] : [],
    ),
  )
}

function textOf(value: OptionValue | undefined): string {
  return value?.kind === 'string' || value?.kind === 'word' ? value.text : ''
}
