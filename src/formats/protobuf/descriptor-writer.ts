import { create, type DescMessage, fromBinary, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf'
import {
  type DescriptorProtoSchema,
  type EnumDescriptorProtoSchema,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  ExtensionRangeOptionsSchema,
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
import { jsonNameOf } from './descriptor-reader.ts'
import { encodeOptions } from './option-encoder.ts'
import { OptionTypes, type Scope, scopeOf } from './option-types.ts'
import {
  type Enum,
  type Extend,
  emptyFile,
  type Group,
  type Message,
  type Option,
  type ProtoField,
  type ProtoFile,
  type Ranges,
  type Service,
  TAG_MAX,
  type TypeElement,
} from './proto-file.ts'
import { bytesFromText, octalEscape } from './string-literal.ts'
import { groupFieldName, groupMessage, groupsOf, isScalar, mapTypes, TypeTable } from './type-table.ts'

type Built<Schema extends DescMessage> = MessageInitShape<Schema>

/**
 * Compiles a file to a descriptor as protoc does. The file must be validated, so that all types resolve. Custom options can be
 * omitted, because they do not change what values are. Throws `InvalidOption`.
 */
export function toFileDescriptor(
  unit: ProtoUnit,
  { name = 'default', customOptions = true }: { readonly name?: string; readonly customOptions?: boolean } = {},
): FileDescriptorProto {
  const { file } = unit
  const declared = scopeOf(unit)
  const scope = customOptions ? declared : { ...declared, optionTypes: new OptionTypes(new TypeTable(emptyFile(), [])) }
  const dependency = [...file.imports, ...file.publicImports]
  return create(FileDescriptorProtoSchema, {
    name,
    ...(file.packageName === undefined ? {} : { package: file.packageName }),
    ...(file.syntax === 'proto3' ? { syntax: 'proto3' } : {}),
    dependency,
    publicDependency: file.publicImports.map((_, at) => file.imports.length + at),
    options: writeOptions(FileOptionsSchema, file.options, scope),
    messageType: messagesOf(file).map((message) => writeMessage(file, message, scope)),
    enumType: enumsOf(file.types).map((element) => writeEnum(element, scope)),
    extension: writeExtends(file, file.extends, scope),
    service: file.services.map((service) => writeService(service, scope)),
  } as Built<typeof FileDescriptorProtoSchema>)
}

/** The messages of a file or a message, with those of the groups that extend others. */
function messagesOf(outer: Pick<ProtoFile, 'types' | 'extends'>): readonly Message[] {
  const groups = outer.extends.flatMap((extend) => extend.groups)
  return [...outer.types.filter((type): type is Message => type.kind === 'message'), ...groups.map(groupMessage)]
}

function enumsOf(types: readonly TypeElement[]): readonly Enum[] {
  return types.filter((type): type is Enum => type.kind === 'enum')
}

function writeMessage(file: ProtoFile, message: Message, outer: Scope): Built<typeof DescriptorProtoSchema> {
  const scope: Scope = { ...outer, path: [...outer.path, message.name] }
  const plain = message.fields.map((field) => writeField(file, field, scope))
  const members = message.oneofs.flatMap(({ fields, groups }, oneofIndex) =>
    [...fields.map((field) => writeField(file, field, scope)), ...groups.map((group) => groupField(group, scope))].map(
      (field) => ({ ...field, oneofIndex }),
    ),
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
      ...messagesOf(message).map((nested) => writeMessage(file, nested, scope)),
      ...message.fields.flatMap((field) => mapEntry(file, field, scope)),
      ...groupsOf(message).map((group) => writeMessage(file, groupMessage(group), scope)),
    ],
    enumType: enumsOf(message.types).map((element) => writeEnum(element, scope)),
    oneofDecl: [
      ...message.oneofs.map(({ name, options }) => ({
        name,
        options: writeOptions(OneofOptionsSchema, options, scope),
      })),
      ...optional.map(({ name }) => ({ name: `_${name}` })),
    ],
    extension: writeExtends(file, message.extends, scope),
    extensionRange: message.extensions.flatMap(({ ranges, options }) =>
      halfOpen(ranges).map((range) => ({
        ...range,
        options: writeOptions(ExtensionRangeOptionsSchema, options, outer),
      })),
    ),
    reservedRange: message.reserved.flatMap(halfOpen),
    reservedName: namesOf(message.reserved),
    options: writeOptions(MessageOptionsSchema, message.options, outer),
  } as Built<typeof DescriptorProtoSchema>
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
    options: writeOptions(FieldOptionsSchema, field.options, scope),
  } as Built<typeof FieldDescriptorProtoSchema>
}

/** Formats a default value as a compiler does: integers in decimal, bytes with escapes. */
function defaultOf(type: string, written: string): string {
  const [, sign = '', digits = ''] = /^(-?)(\d[\da-fA-FxX]*)$/.exec(written) ?? []
  if (INTEGERS.test(type) && digits !== '') return `${sign}${BigInt(digits.replace(/^0(?=\d)/, '0o'))}`
  if (type !== 'bytes') return written
  return [...bytesFromText(written)].map(escapedByte).join('')
}

const INTEGERS = /^(?:[us]?int|s?fixed)(?:32|64)$/
const BYTE_ESCAPES = new Map([...'\n\r\t"\'\\'].map((char, at) => [char.charCodeAt(0), `\\${'nrt"\'\\'[at]}`]))

function escapedByte(byte: number): string {
  const isPlain = byte >= 0x20 && byte < 0x7f
  const plain = isPlain ? String.fromCharCode(byte) : octalEscape(byte)
  return BYTE_ESCAPES.get(byte) ?? plain
}

function typeOf(type: string, { types, path }: Scope): { type: Type; typeName?: string } {
  if (isScalar(type)) return { type: SCALARS[type] ?? Type.BYTES }
  const found = types.find(type, path)
  return { type: found?.element.kind === 'enum' ? Type.ENUM : Type.MESSAGE, typeName: `.${found?.fullName ?? type}` }
}

function groupField(group: Group, scope: Scope): Built<typeof FieldDescriptorProtoSchema> {
  return {
    name: groupFieldName(group.name),
    number: group.tag,
    label: LABELS[group.label ?? 'optional'],
    type: Type.GROUP,
    typeName: `.${[...scope.path, group.name].join('.')}`,
    jsonName: jsonNameOf(groupFieldName(group.name)),
  }
}

function writeExtends(
  file: ProtoFile,
  elements: readonly Extend[],
  scope: Scope,
): Built<typeof FieldDescriptorProtoSchema>[] {
  return elements.flatMap(({ name, fields, groups }) => {
    const extendee = `.${scope.types.find(name, scope.path)?.fullName ?? name}`
    const written = [
      ...fields.map((field) => writeField(file, field, scope)),
      ...groups.map((group) => groupField(group, scope)),
    ]
    return written.map((field) => ({ ...field, extendee }))
  })
}

function writeEnum(element: Enum, scope: Scope): Built<typeof EnumDescriptorProtoSchema> {
  return {
    name: element.name,
    value: element.constants.map(({ name, tag, options }) => ({
      name,
      number: tag,
      options: writeOptions(EnumValueOptionsSchema, options, scope),
    })),
    reservedRange: element.reserved.flatMap(closed).map(toEnumMax),
    reservedName: namesOf(element.reserved),
    options: writeOptions(EnumOptionsSchema, element.options, scope),
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
    options: writeOptions(ServiceOptionsSchema, service.options, scope),
    method: service.rpcs.map((rpc) => ({
      name: rpc.name,
      inputType: typeOf(rpc.requestType, scope).typeName ?? '',
      outputType: typeOf(rpc.responseType, scope).typeName ?? '',
      ...(rpc.requestStreaming ? { clientStreaming: true } : {}),
      ...(rpc.responseStreaming ? { serverStreaming: true } : {}),
      options: writeOptions(MethodOptionsSchema, rpc.options, scope),
    })),
  }
}

function writeOptions<Schema extends DescMessage>(
  schema: Schema,
  options: readonly Option[],
  { optionTypes, path }: Scope,
): MessageShape<Schema> | undefined {
  if (options.length === 0) return undefined
  const bytes = encodeOptions(optionTypes.builtIn(schema), options, { types: optionTypes, scope: path })
  return bytes.length === 0 ? undefined : fromBinary(schema, bytes)
}
