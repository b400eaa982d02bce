import type { DescField, DescMessage, DescOneof, ScalarType } from '@bufbuild/protobuf'
import { Edition, FieldDescriptorProto_Label as Label } from '@bufbuild/protobuf/wkt'
import { expansionLimit } from '../../../java-compat/expansion-limit.ts'
import { DataError, type Field, int64, type Schema } from '../../../sdk/index.ts'
import type { ProtobufFieldMeta } from './field-meta.ts'
import { MESSAGE, mapName, PROTOBUF_ENUM, PROTOBUF_UNION, pascalCase, TAG } from './names.ts'
import { decimalKind, integerKind, type Kind, LOGICAL_KINDS, misfit, refuse, scalarKind } from './scalar-kinds.ts'

// Converts between messages of @bufbuild/protobuf and structs.

export type FromProtoOptions = {
  /** Whether structs and enums have fully qualified names. */
  readonly fullNames: boolean
  /** Whether scalar fields are nullable only if they are `optional`. */
  readonly optionals: boolean
  /** Whether nullable scalar fields use wrapper messages; other scalar fields are then not nullable. */
  readonly wrappers: boolean
  /** Whether wrapper messages are converted to the values that they contain. */
  readonly unwraps: boolean
  /** Whether the field name of a oneof includes the index of the oneof. */
  readonly unionIndexes: boolean
  /** Whether enums are converted to numbers instead of names. */
  readonly enumsAsNumbers: boolean
  /** Metadata of fields, by fully qualified name. */
  readonly metas: ReadonlyMap<string, ProtobufFieldMeta>
}

type Members = Readonly<Record<string, unknown>>

/** The messages that enclose a field, outermost first, and what counts all fields. */
type Enclosing = { readonly messages: readonly DescMessage[]; readonly countField: () => void }

/** Returns the kind for a message. Throws a `DataError` if the message contains itself, or is too large. */
export function messageKind(message: DescMessage, options: FromProtoOptions): Kind {
  return kindIn(message, options, { messages: [], countField: expansionLimit() })
}

function kindIn(message: DescMessage, options: FromProtoOptions, around: Enclosing): Kind {
  if (around.messages.includes(message))
    throw new DataError(`'${message.typeName}' is recursive: Connect does not support recursive schemas`)
  const members = inOrder(message).map((member) => memberKind(member, options, within(message, around)))
  return {
    schema: {
      type: 'struct',
      name: options.fullNames ? message.typeName : message.name,
      fields: members.map(({ field }) => field),
    },
    read: (wire) => Object.fromEntries(members.map(({ field, read }) => [field.name, read(wire as Members)])),
    write(value) {
      if (typeof value !== 'object' || value === null) throw misfit(value, message.typeName)
      const written = members.flatMap(({ field, otherName = '', local, write }) => {
        const one = (value as Members)[field.name] ?? (value as Members)[otherName] ?? null
        return one === null ? [] : [[local, write(one)] as const]
      })
      return Object.fromEntries(written)
    },
  }
}

function within(message: DescMessage, { messages, countField }: Enclosing): Enclosing {
  return { messages: [...messages, message], countField }
}

/** Oneofs come before fields. */
function inOrder({ members }: DescMessage): readonly (DescField | DescOneof)[] {
  return [...members.filter(({ kind }) => kind === 'oneof'), ...members.filter(({ kind }) => kind === 'field')]
}

type Member = {
  readonly field: Field
  /** Alternative name that is accepted when the field is written. */
  readonly otherName?: string
  /** The field's name in @bufbuild/protobuf. */
  readonly local: string
  readonly read: (message: Members) => unknown
  readonly write: (value: unknown) => unknown
}

function memberKind(member: DescField | DescOneof, options: FromProtoOptions, around: Enclosing): Member {
  const local = member.localName
  if (member.kind === 'oneof') return oneofMember(member, options, around)
  const { schema, read, write } = fieldKind(member, options, around)
  return {
    field: { name: member.name, schema },
    local,
    write,
    read: (message) => {
      // An inherited property is the default of a proto2 field that is not set.
      const wire = Object.hasOwn(message, local) ? message[local] : null
      return wire === undefined || wire === null ? null : read(wire)
    },
  }
}

/** Whether a field is nullable. For scalars this depends on the options; other fields always are. */
function isNullable(field: DescField, { optionals, wrappers }: FromProtoOptions): boolean {
  if (field.fieldKind !== 'scalar') return true
  return optionals ? isMarkedOptional(field) : !wrappers
}

function isMarkedOptional({ proto, parent, oneof }: DescField): boolean {
  const isProto2 = parent.file.edition === Edition.EDITION_PROTO2
  return proto.proto3Optional || (isProto2 && proto.label === Label.OPTIONAL && oneof === undefined)
}

/** Converts a oneof to a struct with all its fields, of which one is set. */
function oneofMember(oneof: DescOneof, options: FromProtoOptions, around: Enclosing): Member {
  const place = oneof.parent.oneofs.indexOf(oneof)
  const kinds = oneof.fields.map((field) => ({ field, ...fieldKind(field, options, around) }))
  const fields = kinds.map(({ field, schema }): Field => ({ name: field.name, schema }))
  return {
    field: {
      name: options.unionIndexes ? `${oneof.name}_${place}` : oneof.name,
      schema: {
        type: 'struct',
        name: `${PROTOBUF_UNION}.${options.fullNames ? `${oneof.parent.typeName}.${oneof.name}` : oneof.name}`,
        optional: true,
        fields,
      },
    },
    otherName: options.unionIndexes ? oneof.name : `${oneof.name}_${place}`,
    local: oneof.localName,
    read(message) {
      const chosen = message[oneof.localName] as { readonly case?: string; readonly value?: unknown } | undefined
      if (chosen?.case === undefined) return null
      return Object.fromEntries(
        kinds.map(({ field, read }) => [field.name, field.localName === chosen.case ? read(chosen.value) : null]),
      )
    },
    write(value) {
      const chosen = kinds.find(({ field }) => ((value as Members)[field.name] ?? null) !== null)
      if (chosen === undefined) return { case: undefined }
      return { case: chosen.field.localName, value: chosen.write((value as Members)[chosen.field.name]) }
    },
  }
}

function fieldKind(field: DescField, options: FromProtoOptions, around: Enclosing): Kind {
  around.countField()
  const { schema, ...ways } = bareKind(field, options, around)
  const parameters = { ...schema.parameters, [TAG]: String(field.number) }
  return { schema: { ...schema, ...(isNullable(field, options) && { optional: true }), parameters }, ...ways }
}

function bareKind(field: DescField, options: FromProtoOptions, around: Enclosing): Kind {
  switch (field.fieldKind) {
    case 'list':
      return isEntries(field)
        ? entriesKind(field, options, around)
        : listKind(singleKind(field.listKind, field, options, around))
    case 'map':
      return mapKind(field, scalarKind(field.mapKey), singleKind(field.mapKind, field, options, around), options)
    default:
      return singleKind(field.fieldKind, field, options, around)
  }
}

function listKind(item: Kind): Kind {
  return {
    schema: { type: 'array', items: { ...item.schema, optional: true } },
    read: (wire) => (wire as unknown[]).map(item.read),
    write: (value) => {
      // For map values that are lists or maps, entries are read as a list of structs.
      if (value instanceof Map) return [...value].map(([key, one]) => item.write({ key, value: one }))
      return Array.isArray(value) ? value.map((one) => item.write(one)) : refuse(value, 'an array')
    },
  }
}

/** @bufbuild/protobuf represents map keys as strings. */
function mapKind(
  field: DescField & { readonly fieldKind: 'map' },
  key: Kind,
  item: Kind,
  options: FromProtoOptions,
): Kind {
  const keyOf = (text: string): unknown => {
    if (key.schema.type === 'string') return text
    if (key.schema.type === 'boolean') return text === 'true'
    return key.schema.type === 'int64' ? int64(BigInt(text)) : Number(text)
  }
  const nullable = !options.optionals && !options.wrappers
  const part = ({ schema }: Kind, number: number): Schema => ({
    ...schema,
    ...((nullable || field.mapKind !== 'scalar') && { optional: true }),
    parameters: { ...schema.parameters, [TAG]: String(number) },
  })
  const entry = `${pascalCase(field.name)}Entry`
  const name = mapName(options.fullNames ? `${field.parent.typeName}.${entry}` : entry)
  return {
    schema: {
      type: 'map',
      name,
      keys: { ...part(key, 1), ...(nullable ? {} : { optional: false }) },
      items: part(item, 2),
    },
    read: (wire) => new Map(Object.entries(wire as object).map(([text, one]) => [keyOf(text), item.read(one)])),
    write: (value) =>
      value instanceof Map
        ? Object.fromEntries([...value].map(([one, held]) => [String(one), item.write(held)]))
        : refuse(value, 'a map'),
  }
}

/**
 * Recognizes the messages that Confluent's converter writes for maps: fields `key` and `value`, and a name that ends in
 * `Entry`.
 */
function isEntries(field: DescField): field is DescField & { readonly message: DescMessage } {
  const [key, value, ...others] = field.message?.fields ?? []
  if (!field.message?.name.endsWith('Entry') || others.length > 0) return false
  return (
    key?.name === 'key' &&
    value?.name === 'value' &&
    ![key, value].some(({ fieldKind: kind }) => kind === 'list' || kind === 'map')
  )
}

function entriesKind(
  { message }: { readonly message: DescMessage },
  options: FromProtoOptions,
  around: Enclosing,
): Kind {
  const [key, item] = message.fields.map((one) => memberKind(one, options, within(message, around))) as [Member, Member]
  const name = mapName(options.fullNames ? message.typeName : message.name)
  return {
    schema: { type: 'map', name, keys: key.field.schema, items: item.field.schema },
    read: (wire) => new Map((wire as Members[]).map((one) => [key.read(one), item.read(one)])),
    write: (value) =>
      value instanceof Map
        ? [...value].map(([one, held]) => ({ ...present(key, one), ...present(item, held) }))
        : refuse(value, 'a map'),
  }
}

function present({ local, write }: Member, value: unknown): Members {
  return value === null || value === undefined ? {} : { [local]: write(value) }
}

function singleKind(
  kind: 'scalar' | 'enum' | 'message',
  field: DescField,
  options: FromProtoOptions,
  around: Enclosing,
): Kind {
  const { scalar, message, enum: words } = field as Partial<Pick<DescField, 'scalar' | 'enum' | 'message'>>
  const meta = options.metas.get(`${field.parent.typeName}.${field.name}`) ?? {}
  if (kind === 'message' && message !== undefined) {
    if (message.typeName === MESSAGE.decimal) return decimalKind(meta)
    return LOGICAL_KINDS[message.typeName] ?? wrapperKind(field, message, options) ?? kindIn(message, options, around)
  }
  if (kind === 'enum') return enumKind(words!, options)
  const type = meta['connect.type']
  return type === 'int8' || type === 'int16' ? integerKind(type) : scalarKind(scalar as ScalarType)
}

/** Returns the scalar kind of a Google wrapper message, or undefined for other messages. */
export function wrappedKind({ typeName, fields }: DescMessage): Kind | undefined {
  const [value] = fields
  if (!/^google\.protobuf\.\w+Value$/.test(typeName) || value?.scalar === undefined) return undefined
  const { schema, ...ways } = scalarKind(value.scalar)
  return { schema: { type: schema.type }, ...ways }
}

/** @bufbuild/protobuf represents wrapper fields as the value that they contain; in lists and oneofs, as messages. */
function wrapperKind(field: DescField, message: DescMessage, options: FromProtoOptions): Kind | undefined {
  const wrapped = wrappedKind(message)
  if (wrapped === undefined) return undefined
  const isBare = field.fieldKind === 'message' && field.oneof === undefined
  const unwraps = options.wrappers || options.unwraps
  if (isBare && unwraps) return wrapped
  if (isBare) {
    const { schema, read, write } = messageKind(message, options)
    return {
      schema,
      read: (wire) => read({ value: wire }),
      write: (value) => (write(value) as { readonly value?: unknown }).value,
    }
  }
  if (!unwraps) return undefined
  return {
    schema: wrapped.schema,
    read: (wire) => wrapped.read((wire as { readonly value: unknown }).value),
    write: (value) => ({ value: wrapped.write(value) }),
  }
}

function enumKind({ name, typeName, values }: NonNullable<DescField['enum']>, options: FromProtoOptions): Kind {
  const parameters = Object.fromEntries([
    [PROTOBUF_ENUM, name],
    ...values.map((value) => [`${PROTOBUF_ENUM}.${value.name}`, String(value.number)]),
  ]) as Record<string, string>
  const about = { name: options.fullNames ? typeName : name, parameters }
  const words = new Map(values.map((value) => [value.number, value.name]))
  const numbers = new Map(values.map((value) => [value.name, value.number]))
  const write = (value: unknown) =>
    typeof value === 'number' ? value : (numbers.get(value as string) ?? refuse(value, `a symbol of ${typeName}`))
  if (options.enumsAsNumbers) return { schema: { type: 'int32', ...about }, read: (wire) => wire, write }
  return {
    schema: { type: 'string', ...about },
    read: (wire) => words.get(wire as number) ?? `UNKNOWN_ENUM_VALUE_${name}_${String(wire)}`,
    write,
  }
}
