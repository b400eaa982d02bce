import { type Message as BufMessage, create, type DescMessage, toBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumOptionsSchema,
  EnumValueOptionsSchema,
  ExtensionRangeOptionsSchema,
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
import { SchemaError } from '../schema-error.ts'
import { decodeOptions } from './option-decoder.ts'
import { type OptionTypes, scopeOf } from './option-types.ts'
import {
  type Enum,
  type Extend,
  emptyFile,
  type Group,
  type Message,
  type OneOf,
  type Option,
  type ProtoField,
  type ProtoFile,
  type Range,
  type Ranges,
  SCOPES_MAX,
  type Service,
  TAG_MAX,
} from './proto-file.ts'
import { unquoteLiterals } from './string-literal.ts'
import { splitName } from './type-table.ts'

/**
 * Converts a compiled file to its source form. A descriptor has only the numbers of custom options, so those that
 * `optionTypes` does not declare are omitted. Throws a `SchemaError` for a file that no text of a registry can have.
 */
export function fromFileDescriptor(
  file: FileDescriptorProto,
  optionTypes: OptionTypes = scopeOf({ file: emptyFile(), dependencies: [] }).optionTypes,
): ProtoFile {
  if (splitName(file.package).length > SCOPES_MAX) {
    throw new SchemaError(`the package has more than ${SCOPES_MAX} parts`)
  }
  return new DescriptorReader(file.syntax === 'proto3', optionTypes).file(file)
}

class DescriptorReader {
  readonly #isProto3: boolean
  readonly #optionTypes: OptionTypes

  constructor(isProto3: boolean, optionTypes: OptionTypes) {
    this.#isProto3 = isProto3
    this.#optionTypes = optionTypes
  }

  file(file: FileDescriptorProto): ProtoFile {
    const isPublic = new Set(file.publicDependency)
    const isGroup = groupNames(file.extension)
    return {
      syntax: file.syntax === 'proto2' || file.syntax === 'proto3' ? file.syntax : undefined,
      packageName: file.package === '' ? undefined : file.package,
      imports: file.dependency.filter((_, at) => !isPublic.has(at)),
      publicImports: file.dependency.filter((_, at) => isPublic.has(at)),
      options: this.#options(FileOptionsSchema, file.options),
      types: [
        ...file.messageType.filter(({ name }) => !isGroup.has(name)).map((message) => this.#message(message)),
        ...file.enumType.map((element) => this.#enum(element)),
      ],
      extends: this.#extends(file.extension, file.messageType),
      services: file.service.map((service) => this.#service(service)),
    }
  }

  #message(message: DescriptorProto): Message {
    const { nestedType, extensionRange } = message
    const entries = new Map(nestedType.filter(({ options }) => options?.mapEntry).map((entry) => [entry.name, entry]))
    const isMember = (field: FieldDescriptorProto) =>
      field.oneofIndex !== undefined && has(field, 'oneofIndex') && !field.proto3Optional
    const own = this.#members(
      message.field.filter((field) => !isMember(field)),
      nestedType,
    )
    const oneofs = message.oneofDecl.map(({ name, options }, at): OneOf => {
      const members = message.field.filter((field) => isMember(field) && field.oneofIndex === at)
      const { fields, groups } = this.#members(members, nestedType)
      return {
        name,
        options: this.#options(OneofOptionsSchema, options),
        fields: fields.map((field) => ({ ...field, label: undefined })),
        groups: groups.map((group) => ({ ...group, label: undefined })),
      }
    })
    const isGroup = groupNames([...message.field, ...message.extension])
    const nested = nestedType.filter(({ name }) => !entries.has(name) && !isGroup.has(name))
    return {
      kind: 'message',
      name: message.name,
      reserved: reservedOf(message.reservedRange.map(halfOpen), message.reservedName),
      options: this.#options(MessageOptionsSchema, message.options),
      ...own,
      // In the descriptor, a proto3 optional field has a synthetic oneof, which the source does not have.
      oneofs: oneofs.filter(({ fields, groups }) => fields.length + groups.length > 0),
      extensions: extensionRange.map((range) => ({
        ranges: [halfOpen(range)],
        options: this.#options(ExtensionRangeOptionsSchema, range.options),
      })),
      extends: this.#extends(message.extension, nestedType),
      types: [...nested.map((type) => this.#message(type)), ...message.enumType.map((element) => this.#enum(element))],
    }
  }

  /** `types` are the messages beside the fields, among them the map entries and those of groups. */
  #members(members: readonly FieldDescriptorProto[], types: readonly DescriptorProto[]) {
    const fields: ProtoField[] = []
    const groups: Group[] = []
    const byName = new Map(types.map((type) => [type.name, type]))
    for (const member of members) {
      const type = byName.get(member.typeName.split('.').at(-1) ?? '')
      if (member.type === Type.GROUP) groups.push(this.#group(member, type))
      else fields.push(this.#field(member, type?.options?.mapEntry ? type : undefined))
    }
    return { fields, groups }
  }

  #group(field: FieldDescriptorProto, type: DescriptorProto | undefined): Group {
    const { fields, groups, options, oneofs, types, extensions, extends: extended } = this.#message(type ?? NO_MESSAGE)
    const other = [
      groups,
      options,
      oneofs,
      types,
      extensions,
      extended,
      this.#options(FieldOptionsSchema, field.options),
    ]
    if (type === undefined || other.some(({ length }) => length > 0)) {
      throw new SchemaError(
        `the group '${field.name}' has options, or something else than fields, which no schema can have`,
      )
    }
    return { label: this.#label(field), name: type.name, tag: field.number, fields }
  }

  #field(field: FieldDescriptorProto, entry: DescriptorProto | undefined): ProtoField {
    const [key, value] = entry?.field ?? []
    const isMap = field.label === Label.REPEATED && key !== undefined && value !== undefined
    return {
      label: isMap ? undefined : this.#label(field),
      type: isMap ? `map<${typeOf(key)}, ${typeOf(value)}>` : typeOf(field),
      name: field.name,
      tag: field.number,
      options: this.#options(FieldOptionsSchema, field.options),
      defaultValue: defaultOf(field),
      jsonName: field.jsonName === '' || field.jsonName === jsonNameOf(field.name) ? undefined : field.jsonName,
    }
  }

  #label(field: FieldDescriptorProto): ProtoField['label'] {
    if (field.label === Label.REPEATED) return 'repeated'
    if (field.label === Label.REQUIRED) return 'required'
    return this.#isProto3 && !field.proto3Optional ? undefined : 'optional'
  }

  #enum(element: EnumDescriptorProto): Enum {
    const ranges = element.reservedRange.map(({ start, end }) =>
      start === end ? start : { from: start, to: Math.min(end, TAG_MAX) },
    )
    return {
      kind: 'enum',
      name: element.name,
      reserved: reservedOf(ranges, element.reservedName),
      options: this.#options(EnumOptionsSchema, element.options),
      constants: element.value.map(({ name, number, options }) => ({
        name,
        tag: number,
        options: this.#options(EnumValueOptionsSchema, options),
      })),
    }
  }

  #extends(fields: readonly FieldDescriptorProto[], types: readonly DescriptorProto[]): readonly Extend[] {
    const byName = Map.groupBy(fields, ({ extendee }) => extendee)
    return [...byName].map(([name, members]) => ({ name, ...this.#members(members, types) }))
  }

  #service(service: ServiceDescriptorProto): Service {
    return {
      name: service.name,
      options: this.#options(ServiceOptionsSchema, service.options),
      rpcs: service.method.map((method) => ({
        name: method.name,
        requestType: method.inputType,
        requestStreaming: method.clientStreaming,
        responseType: method.outputType,
        responseStreaming: method.serverStreaming,
        options: this.#options(MethodOptionsSchema, method.options),
      })),
    }
  }

  #options(schema: DescMessage, options: BufMessage | undefined): readonly Option[] {
    if (options === undefined) return []
    return decodeOptions(this.#optionTypes.builtIn(schema), toBinary(schema, options), this.#optionTypes)
  }
}

const NO_MESSAGE = create(DescriptorProtoSchema)

function groupNames(fields: readonly FieldDescriptorProto[]): ReadonlySet<string> {
  const groups = fields.filter(({ type }) => type === Type.GROUP)
  return new Set(groups.map(({ typeName }) => typeName.split('.').at(-1) ?? ''))
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

/** The default value of a `bytes` field has escapes. */
function defaultOf(field: FieldDescriptorProto): string | undefined {
  if (!has(field, 'defaultValue')) return undefined
  return field.type === Type.BYTES ? unquoteLiterals([`"${field.defaultValue}"`]) : field.defaultValue
}

/** The default JSON name of a field: lowerCamelCase. */
export function jsonNameOf(name: string): string {
  return name.replace(/_+([a-zA-Z0-9])?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')
}
