import { create, type DescField, type DescMessage, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import {
  type DescriptorProtoSchema,
  type EnumDescriptorProtoSchema,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  type FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileOptionsSchema,
  FieldDescriptorProto_Label as Label,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  ServiceOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'
import type { ProtoUnit } from './compatibility.ts'
import { writeMeta } from './confluent-meta.ts'
import { jsonNameOf } from './descriptor-reader.ts'
import {
  type Enum,
  type Extend,
  type Group,
  type Message,
  type Option,
  type OptionValue,
  type ProtoField,
  type ProtoFile,
  type Ranges,
  type Service,
  TAG_MAX,
  type TypeElement,
} from './proto-file.ts'
import { isScalar, mapTypes, type Scope, splitName, TypeTable } from './type-table.ts'

type Built<Schema extends DescMessage> = MessageInitShape<Schema>

/**
 * Compiles a file to a descriptor as protoc does, without custom options other than Confluent's meta. The file must be
 * validated, so that all types resolve.
 */
export function toFileDescriptor({ file, dependencies }: ProtoUnit, name = 'default'): FileDescriptorProto {
  const scope: Scope = { types: new TypeTable(file, dependencies), path: splitName(file.packageName ?? '') }
  const dependency = [...file.imports, ...file.publicImports]
  return create(FileDescriptorProtoSchema, {
    name,
    ...(file.packageName === undefined ? {} : { package: file.packageName }),
    ...(file.syntax === 'proto3' ? { syntax: 'proto3' } : {}),
    dependency,
    publicDependency: file.publicImports.map((_, at) => file.imports.length + at),
    options: writeOptions(FileOptionsSchema, file.options),
    messageType: messagesOf(file.types).map((message) => writeMessage(file, message, scope)),
    enumType: enumsOf(file.types).map(writeEnum),
    extension: writeExtends(file, file.extends, scope),
    service: file.services.map((service) => writeService(service, scope)),
  } as Built<typeof FileDescriptorProtoSchema>)
}

function messagesOf(types: readonly TypeElement[]): readonly Message[] {
  return types.filter((type): type is Message => type.kind === 'message')
}

function enumsOf(types: readonly TypeElement[]): readonly Enum[] {
  return types.filter((type): type is Enum => type.kind === 'enum')
}

function writeMessage(file: ProtoFile, message: Message, outer: Scope): Built<typeof DescriptorProtoSchema> {
  const scope: Scope = { ...outer, path: [...outer.path, message.name] }
  const plain = message.fields.map((field) => writeField(file, field, scope))
  const members = message.oneofs.flatMap(({ fields }, oneofIndex) =>
    fields.map((field) => ({ ...writeField(file, field, scope), oneofIndex })),
  )
  // Each proto3 optional field has a synthetic oneof, after the declared oneofs.
  const optional = file.syntax === 'proto3' ? message.fields.filter(({ label }) => label === 'optional') : []
  for (const field of plain) {
    const at = optional.findIndex(({ name }) => name === field.name)
    if (at >= 0) Object.assign(field, { proto3Optional: true, oneofIndex: message.oneofs.length + at })
  }
  return {
    name: message.name,
    field: [...plain, ...members, ...message.groups.map((group) => groupField(group, scope))],
    nestedType: [
      ...messagesOf(message.types).map((nested) => writeMessage(file, nested, scope)),
      ...message.fields.flatMap((field) => mapEntry(file, field, scope)),
      ...message.groups.map((group) => writeMessage(file, messageOf(group), scope)),
    ],
    enumType: enumsOf(message.types).map(writeEnum),
    oneofDecl: [
      ...message.oneofs.map(({ name, options }) => ({ name, options: writeOptions(OneofOptionsSchema, options) })),
      ...optional.map(({ name }) => ({ name: `_${name}` })),
    ],
    extension: writeExtends(file, message.extends, scope),
    extensionRange: message.extensions.flatMap(({ ranges }) => halfOpen(ranges)),
    reservedRange: message.reserved.flatMap(halfOpen),
    reservedName: namesOf(message.reserved),
    options: writeOptions(MessageOptionsSchema, message.options),
  } as Built<typeof DescriptorProtoSchema>
}

function messageOf(group: Group): Message {
  const { name, fields } = group
  return {
    kind: 'message',
    name,
    fields,
    reserved: [],
    options: [],
    oneofs: [],
    groups: [],
    extensions: [],
    extends: [],
    types: [],
  }
}

function entryName(field: ProtoField): string {
  const camel = jsonNameOf(field.name)
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`
}

function mapEntry(file: ProtoFile, field: ProtoField, scope: Scope): readonly Built<typeof DescriptorProtoSchema>[] {
  const map = mapTypes(field.type)
  if (!map) return []
  const part = (name: string, tag: number, type: string) =>
    writeField(
      file,
      { label: undefined, type, name, tag, options: [], defaultValue: undefined, jsonName: undefined },
      scope,
    )
  return [
    {
      name: entryName(field),
      field: [part('key', 1, map.key), part('value', 2, map.value)],
      options: { mapEntry: true },
    },
  ]
}

const SCALARS: Readonly<Record<string, Type>> = {
  double: Type.DOUBLE,
  float: Type.FLOAT,
  int64: Type.INT64,
  uint64: Type.UINT64,
  int32: Type.INT32,
  fixed64: Type.FIXED64,
  fixed32: Type.FIXED32,
  bool: Type.BOOL,
  string: Type.STRING,
  bytes: Type.BYTES,
  uint32: Type.UINT32,
  sfixed32: Type.SFIXED32,
  sfixed64: Type.SFIXED64,
  sint32: Type.SINT32,
  sint64: Type.SINT64,
}

const LABELS = { optional: Label.OPTIONAL, required: Label.REQUIRED, repeated: Label.REPEATED } as const

function writeField(file: ProtoFile, field: ProtoField, scope: Scope): Built<typeof FieldDescriptorProtoSchema> {
  const isMap = mapTypes(field.type) !== undefined
  return {
    name: field.name,
    number: field.tag,
    label: isMap ? Label.REPEATED : LABELS[field.label ?? 'optional'],
    ...(isMap
      ? { type: Type.MESSAGE, typeName: `.${[...scope.path, entryName(field)].join('.')}` }
      : typeOf(field.type, scope)),
    jsonName: field.jsonName ?? jsonNameOf(field.name),
    ...(field.defaultValue === undefined || file.syntax === 'proto3'
      ? {}
      : { defaultValue: defaultOf(field.type, field.defaultValue) }),
    options: writeOptions(FieldOptionsSchema, field.options),
  } as Built<typeof FieldDescriptorProtoSchema>
}

/** Formats a default value as a compiler does: integers in decimal, bytes with escapes. */
function defaultOf(type: string, written: string): string {
  const [, sign = '', digits = ''] = /^(-?)(\d[\da-fA-FxX]*)$/.exec(written) ?? []
  if (INTEGERS.test(type) && digits !== '') return `${sign}${BigInt(digits.replace(/^0(?=\d)/, '0o'))}`
  if (type !== 'bytes') return written
  return [...Buffer.from(written, 'latin1')].map(escapedByte).join('')
}

const INTEGERS = /^(?:[us]?int|s?fixed)(?:32|64)$/
const BYTE_ESCAPES = new Map([...'\n\r\t"\'\\'].map((char, at) => [char.charCodeAt(0), `\\${'nrt"\'\\'[at]}`]))

function escapedByte(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f
  const plain = isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  return BYTE_ESCAPES.get(byte) ?? plain
}

function typeOf(type: string, { types, path }: Scope): { type: Type; typeName?: string } {
  if (isScalar(type)) return { type: SCALARS[type] ?? Type.BYTES }
  const found = types.find(type, path)
  return { type: found?.element.kind === 'enum' ? Type.ENUM : Type.MESSAGE, typeName: `.${found?.fullName ?? type}` }
}

function groupField(group: Group, scope: Scope): Built<typeof FieldDescriptorProtoSchema> {
  return {
    name: group.name.toLowerCase(),
    number: group.tag,
    label: LABELS[group.label ?? 'optional'],
    type: Type.GROUP,
    typeName: `.${[...scope.path, group.name].join('.')}`,
    jsonName: jsonNameOf(group.name.toLowerCase()),
  }
}

function writeExtends(
  file: ProtoFile,
  elements: readonly Extend[],
  scope: Scope,
): Built<typeof FieldDescriptorProtoSchema>[] {
  return elements.flatMap(({ name, fields }) => {
    const extendee = `.${scope.types.find(name, scope.path)?.fullName ?? name}`
    return fields.map((field) => ({ ...writeField(file, field, scope), extendee }))
  })
}

function writeEnum(element: Enum): Built<typeof EnumDescriptorProtoSchema> {
  return {
    name: element.name,
    value: element.constants.map(({ name, tag, options }) => ({
      name,
      number: tag,
      options: writeOptions(EnumValueOptionsSchema, options),
    })),
    reservedRange: element.reserved.flatMap(closed).map(toEnumMax),
    reservedName: namesOf(element.reserved),
    options: writeOptions(EnumOptionsSchema, element.options),
  } as Built<typeof EnumDescriptorProtoSchema>
}

/** The `end` of a range is exclusive in messages and inclusive in enums. */
function halfOpen(ranges: Ranges): { start: number; end: number }[] {
  return closed(ranges).map(({ start, end }) => ({ start, end: end + 1 }))
}

function closed(ranges: Ranges): { start: number; end: number }[] {
  return ranges.flatMap((range) => {
    if (typeof range === 'string') return []
    return typeof range === 'number' ? [{ start: range, end: range }] : [{ start: range.from, end: range.to }]
  })
}

/** In an enum, `to max` ends at 2^31 - 1. */
function toEnumMax({ start, end }: { start: number; end: number }): { start: number; end: number } {
  return { start, end: end === TAG_MAX ? 2 ** 31 - 1 : end }
}

function namesOf(reserved: readonly Ranges[]): string[] {
  return reserved.flat().filter((range): range is string => typeof range === 'string')
}

function writeService(service: Service, scope: Scope) {
  return {
    name: service.name,
    options: writeOptions(ServiceOptionsSchema, service.options),
    method: service.rpcs.map((rpc) => ({
      name: rpc.name,
      inputType: typeOf(rpc.requestType, scope).typeName ?? '',
      outputType: typeOf(rpc.responseType, scope).typeName ?? '',
      ...(rpc.requestStreaming ? { clientStreaming: true } : {}),
      ...(rpc.responseStreaming ? { serverStreaming: true } : {}),
      options: writeOptions(MethodOptionsSchema, rpc.options),
    })),
  }
}

/** Writes the built-in options and Confluent's meta, whose tags clients read from the descriptor. */
function writeOptions<Schema extends DescMessage>(
  schema: Schema,
  options: readonly Option[],
): MessageShape<Schema> | undefined {
  const own = options.flatMap((option) => {
    const field = option.parenthesized ? undefined : schema.fields.find(({ name }) => name === option.name)
    const value = field && optionValueOf(field, option.value)
    return field && value !== undefined ? [{ field, value }] : []
  })
  const meta = writeMeta(schema.typeName, options)
  if (own.length === 0 && meta === undefined) return undefined
  const message = reflect(schema)
  for (const { field, value } of own) message.set(field, value)
  if (meta !== undefined) message.message.$unknown = [meta]
  return message.message as MessageShape<Schema>
}

function optionValueOf(field: DescField, value: OptionValue): string | number | boolean | undefined {
  if (value.kind !== 'string' && value.kind !== 'word') return undefined
  if (field.fieldKind === 'enum') return field.enum.values.find(({ name }) => name === value.text)?.number
  if (field.fieldKind !== 'scalar') return undefined
  if (value.kind === 'string') return value.text
  return value.text === 'true' || value.text === 'false' ? value.text === 'true' : Number(value.text)
}
