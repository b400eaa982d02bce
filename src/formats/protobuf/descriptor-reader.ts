import type { Message as BufMessage, DescMessage } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  type FieldDescriptorProto,
  FieldOptionsSchema,
  type FileDescriptorProto,
  FileOptionsSchema,
  FieldDescriptorProto_Label as Label,
  MessageOptionsSchema,
  MethodOptionsSchema,
  OneofOptionsSchema,
  type ServiceDescriptorProto,
  ServiceOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt'
import { readMeta } from './confluent-meta.ts'
import {
  type Enum,
  type Extend,
  type Message,
  type OneOf,
  type Option,
  type OptionValue,
  type ProtoField,
  type ProtoFile,
  type Range,
  type Ranges,
  SCOPES_MAX,
  type Service,
  TAG_MAX,
} from './proto-file.ts'
import { splitName } from './type-table.ts'

/**
 * Converts a compiled file to its source form. Custom options are omitted, except Confluent's meta, because the
 * descriptor does not contain their names. Throws an `Error` for a package name with too many parts.
 */
export function fromFileDescriptor(file: FileDescriptorProto): ProtoFile {
  if (splitName(file.package).length > SCOPES_MAX) throw new Error(`the package has more than ${SCOPES_MAX} parts`)
  const isProto3 = file.syntax === 'proto3'
  const isPublic = new Set(file.publicDependency)
  return {
    syntax: isProto3 ? 'proto3' : file.syntax === 'proto2' ? 'proto2' : undefined,
    packageName: file.package === '' ? undefined : file.package,
    imports: file.dependency.filter((_, at) => !isPublic.has(at)),
    publicImports: file.dependency.filter((_, at) => isPublic.has(at)),
    options: optionsOf(FileOptionsSchema, file.options),
    types: [...file.messageType.map((message) => readMessage(message, isProto3)), ...file.enumType.map(readEnum)],
    extends: readExtends(file.extension, isProto3),
    services: file.service.map(readService),
  }
}

function readMessage(message: DescriptorProto, isProto3: boolean): Message {
  const entries = new Map(
    message.nestedType.filter(({ options }) => options?.mapEntry).map((entry) => [entry.name, entry]),
  )
  const isMember = (field: FieldDescriptorProto) =>
    field.oneofIndex !== undefined && has(field, 'oneofIndex') && !field.proto3Optional
  const read = (field: FieldDescriptorProto) => readField(field, isProto3, entries)
  const oneofs = message.oneofDecl.map(
    ({ name, options }, at): OneOf => ({
      name,
      options: optionsOf(OneofOptionsSchema, options),
      fields: message.field
        .filter((field) => isMember(field) && field.oneofIndex === at)
        .map((field) => ({ ...read(field), label: undefined })),
      groups: [],
    }),
  )
  return {
    kind: 'message',
    name: message.name,
    reserved: reservedOf(message.reservedRange.map(halfOpen), message.reservedName),
    options: optionsOf(MessageOptionsSchema, message.options),
    fields: message.field.filter((field) => !isMember(field)).map(read),
    // In the descriptor, a proto3 optional field has a synthetic oneof, which the source does not have.
    oneofs: oneofs.filter(({ fields }) => fields.length > 0),
    groups: [],
    extensions: message.extensionRange.map((range) => ({ ranges: [halfOpen(range)], options: [] })),
    extends: readExtends(message.extension, isProto3),
    types: [
      ...message.nestedType.filter(({ name }) => !entries.has(name)).map((nested) => readMessage(nested, isProto3)),
      ...message.enumType.map(readEnum),
    ],
  }
}

/** Whether a field of a descriptor, which is a proto2 message, was set. */
function has(message: object, field: string): boolean {
  return Object.hasOwn(message, field)
}

function halfOpen({ start, end }: { readonly start: number; readonly end: number }): Range | number {
  return end - 1 === start ? start : { from: start, to: Math.min(end - 1, TAG_MAX) }
}

function reservedOf(ranges: Ranges, names: readonly string[]): readonly Ranges[] {
  return [ranges, names].filter((list) => list.length > 0)
}

const SCALARS: Readonly<Partial<Record<Type, string>>> = {
  [Type.DOUBLE]: 'double',
  [Type.FLOAT]: 'float',
  [Type.INT64]: 'int64',
  [Type.UINT64]: 'uint64',
  [Type.INT32]: 'int32',
  [Type.FIXED64]: 'fixed64',
  [Type.FIXED32]: 'fixed32',
  [Type.BOOL]: 'bool',
  [Type.STRING]: 'string',
  [Type.BYTES]: 'bytes',
  [Type.UINT32]: 'uint32',
  [Type.SFIXED32]: 'sfixed32',
  [Type.SFIXED64]: 'sfixed64',
  [Type.SINT32]: 'sint32',
  [Type.SINT64]: 'sint64',
}

function typeOf(field: FieldDescriptorProto): string {
  return SCALARS[field.type] ?? field.typeName
}

function readField(
  field: FieldDescriptorProto,
  isProto3: boolean,
  entries: ReadonlyMap<string, DescriptorProto>,
): ProtoField {
  const entry =
    field.label === Label.REPEATED && field.type === Type.MESSAGE
      ? entries.get(field.typeName.split('.').at(-1) ?? '')
      : undefined
  const [key, value] = entry?.field ?? []
  const isMap = key !== undefined && value !== undefined
  return {
    label: isMap ? undefined : labelOf(field, isProto3),
    type: isMap ? `map<${typeOf(key)}, ${typeOf(value)}>` : typeOf(field),
    name: field.name,
    tag: field.number,
    options: optionsOf(FieldOptionsSchema, field.options),
    defaultValue: has(field, 'defaultValue') && field.defaultValue !== '' ? field.defaultValue : undefined,
    jsonName: field.jsonName === '' || field.jsonName === jsonNameOf(field.name) ? undefined : field.jsonName,
  }
}

/** The default JSON name of a field: lowerCamelCase. */
export function jsonNameOf(name: string): string {
  return name.replace(/_+([a-zA-Z0-9])?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')
}

function labelOf(field: FieldDescriptorProto, isProto3: boolean): ProtoField['label'] {
  if (field.label === Label.REPEATED) return 'repeated'
  if (field.label === Label.REQUIRED) return 'required'
  return isProto3 && !field.proto3Optional ? undefined : 'optional'
}

function readEnum(element: EnumDescriptorProto): Enum {
  const ranges = element.reservedRange.map(({ start, end }) =>
    start === end ? start : { from: start, to: Math.min(end, TAG_MAX) },
  )
  return {
    kind: 'enum',
    name: element.name,
    reserved: reservedOf(ranges, element.reservedName),
    options: optionsOf(EnumOptionsSchema, element.options),
    constants: element.value.map(({ name, number, options }) => ({
      name,
      tag: number,
      options: optionsOf(EnumValueOptionsSchema, options),
    })),
  }
}

function readExtends(fields: readonly FieldDescriptorProto[], isProto3: boolean): readonly Extend[] {
  const byName = Map.groupBy(fields, ({ extendee }) => extendee)
  return [...byName].map(([name, of]) => ({ name, fields: of.map((field) => readField(field, isProto3, new Map())) }))
}

function readService(service: ServiceDescriptorProto): Service {
  return {
    name: service.name,
    options: optionsOf(ServiceOptionsSchema, service.options),
    rpcs: service.method.map((method) => ({
      name: method.name,
      requestType: method.inputType,
      requestStreaming: method.clientStreaming,
      responseType: method.outputType,
      responseStreaming: method.serverStreaming,
      options: optionsOf(MethodOptionsSchema, method.options),
    })),
  }
}

/** The built-in options that are set, in the order of their field numbers, and Confluent's meta. */
function optionsOf(schema: DescMessage, options: BufMessage | undefined): readonly Option[] {
  if (options === undefined) return []
  const reflected = reflect(schema, options)
  const meta = readMeta(schema.typeName, options.$unknown)
  const own = reflected.fields
    .filter((field) => field.name !== 'uninterpreted_option' && reflected.isSet(field))
    .flatMap((field) => {
      const value = optionValue(field.fieldKind, field, reflected.get(field))
      return value ? [{ name: field.name, parenthesized: false, value }] : []
    })
  return meta === undefined ? own : [...own, meta]
}

function optionValue(kind: string, field: { readonly enum?: unknown }, value: unknown): OptionValue | undefined {
  if (kind === 'scalar')
    return typeof value === 'string' ? { kind: 'string', text: value } : { kind: 'word', text: String(value) }
  const names = field.enum as { readonly value: Readonly<Record<number, { readonly name: string }>> } | undefined
  const name = kind === 'enum' ? names?.value[value as number]?.name : undefined
  return name === undefined ? undefined : { kind: 'word', text: name }
}
