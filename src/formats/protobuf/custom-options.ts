import type { Enum, Extend, Group, Message, OneOf, Option, ProtoField, ProtoFile, TypeElement } from './proto-file.ts'

/** The file without declarations of extensions. */
export function withoutExtensions(file: ProtoFile): ProtoFile {
  const strip = (message: Message): Message => ({
    ...message,
    extensions: [],
    extends: [],
    types: message.types.map((type) => (type.kind === 'message' ? strip(type) : type)),
  })
  return { ...file, extends: [], types: file.types.map((type) => (type.kind === 'message' ? strip(type) : type)) }
}

/** The file without custom options other than those of Confluent's registry, which are kept there as well. */
export function withoutCustomOptions(file: ProtoFile): ProtoFile {
  return {
    ...file,
    options: builtIn(file.options),
    types: file.types.map(stripType),
    extends: file.extends.map(stripExtend),
    services: file.services.map((service) => ({
      ...service,
      options: builtIn(service.options),
      rpcs: service.rpcs.map(strip),
    })),
  }
}

function builtIn(options: readonly Option[]): readonly Option[] {
  return options.filter(({ name, parenthesized }) => !parenthesized || /^\.?confluent\./.test(name))
}

function strip<Element extends { readonly options: readonly Option[] }>(element: Element): Element {
  return { ...element, options: builtIn(element.options) }
}

function stripType(type: TypeElement): TypeElement {
  return type.kind === 'enum' ? stripEnum(type) : stripMessage(type)
}

function stripEnum(element: Enum): Enum {
  return { ...strip(element), constants: element.constants.map(strip) }
}

function stripMessage(message: Message): Message {
  return {
    ...stripMembers(strip(message)),
    oneofs: message.oneofs.map((oneof): OneOf => stripMembers(strip(oneof))),
    extensions: message.extensions.map(strip),
    extends: message.extends.map(stripExtend),
    types: message.types.map(stripType),
  }
}

function stripExtend(extend: Extend): Extend {
  return stripMembers(extend)
}

type Members = { readonly fields: readonly ProtoField[]; readonly groups: readonly Group[] }

function stripMembers<Element extends Members>(element: Element): Element {
  const groups = element.groups.map((group) => ({ ...group, fields: group.fields.map(strip) }))
  return { ...element, fields: element.fields.map(strip), groups }
}
