import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { ScalarType } from '@bufbuild/protobuf'
import type { ProtoUnit } from './compatibility.ts'
import { confluentMeta } from './confluent-meta.ts'
import type { Enum, Group, Message, ProtoField } from './proto-file.ts'
import { type Extension, groupFieldName, isScalar, mapTypes, splitName, TypeTable } from './type-table.ts'

/** The scope in which a name is resolved: the known types, and the enclosing packages and messages, outermost first. */
export type Scope = {
  readonly types: TypeTable
  readonly optionTypes: OptionTypes
  readonly path: readonly string[]
}

/** The outermost scope of a file. */
export function scopeOf({ file, dependencies }: ProtoUnit): Scope {
  const types = new TypeTable(file, [confluentMeta(), ...dependencies])
  return { types, optionTypes: new OptionTypes(types), path: splitName(file.packageName ?? '') }
}

/** A field that an option, or a key in the value of an option, sets. */
export type OptionField = {
  /** The key in a value: the name of the field, the name of the type of a group, or the full name of an extension in brackets. */
  readonly key: string
  readonly number: number
  /** A scalar type, `enum`, `message` or `group`; undefined if the type is not declared. */
  readonly type: string | undefined
  readonly isRepeated: boolean
  /** The name of the oneof, in its message. */
  readonly oneof: string | undefined
  readonly constants: EnumConstants | undefined
  /** The message that is the value. Resolved when it is read, because messages can be recursive. */
  readonly message: () => OptionMessage | undefined
}

type EnumConstants = { readonly numbers: ReadonlyMap<string, number>; readonly names: ReadonlyMap<number, string> }

/** A message whose fields options set: an options message such as `google.protobuf.FieldOptions`, or a value. */
export type OptionMessage = {
  readonly fullName: string
  /** Fields by key. A group is also found by the name of its field, as in the name of an option. */
  field(key: string): OptionField | undefined
  numbered(number: number): OptionField | undefined
}

type Values<Value> = { readonly field: OptionField | undefined; readonly values: Value[] }

/** The values of the fields of a message. The last member of a oneof that is added removes the others. */
export class FieldValues<Value> {
  readonly #byKey = new Map<string, Values<Value>>()
  readonly #members = new Map<string, string>()

  add(key: string, field: OptionField | undefined, values: readonly Value[]): void {
    if (field?.oneof !== undefined) {
      const other = this.#members.get(field.oneof)
      if (other !== undefined && other !== key) this.#byKey.delete(other)
      this.#members.set(field.oneof, key)
    }
    const same = this.#byKey.get(key)
    if (same) for (const value of values) same.values.push(value)
    else this.#byKey.set(key, { field, values: [...values] })
  }

  entries(): Iterable<readonly [string, Values<Value>]> {
    return this.#byKey
  }
}

/** The messages and extensions that the options of a file can set. */
export class OptionTypes {
  readonly #types: TypeTable
  readonly #messages = new Map<string, OptionMessage>()
  readonly #extensions = new WeakMap<Extension, OptionField>()
  readonly #enums = new WeakMap<object, EnumConstants>()
  #numbered: ReadonlyMap<string, Extension> | undefined

  constructor(types: TypeTable) {
    this.#types = types
  }

  /** An options message of `google/protobuf/descriptor.proto`, or a message that one of its fields has. */
  builtIn(descriptor: DescMessage): OptionMessage {
    const fields = descriptor.fields.filter(({ name }) => name !== 'uninterpreted_option')
    return this.#message(descriptor.typeName, () => fields.map((field) => this.#builtInField(field)))
  }

  /** A declared message, by full name. */
  declared(fullName: string): OptionMessage | undefined {
    const found = this.#types.find(`.${fullName}`, [])
    if (found?.element.kind !== 'message') return undefined
    const { element } = found
    return this.#message(fullName, () => this.#fieldsOf(element, fullName.split('.')))
  }

  /** The extension with this name, resolved in `scope`. */
  extension(name: string, scope: readonly string[]): OptionField | undefined {
    const found = this.#types.extension(name, scope)
    return found && this.#extensionField(found)
  }

  #message(fullName: string, fieldsOf: () => readonly OptionField[]): OptionMessage {
    const known = this.#messages.get(fullName)
    if (known) return known
    const fields = fieldsOf()
    const byKey = new Map(fields.map((field) => [field.key, field]))
    for (const field of fields) if (field.type === 'group') byKey.set(groupFieldName(field.key), field)
    const byNumber = new Map(fields.map((field) => [field.number, field]))
    // A compiler resolves the names of extensions beside the message, not in it.
    const scope = fullName.split('.').slice(0, -1)
    const message: OptionMessage = {
      fullName,
      field: (key) => (key.startsWith('[') ? this.extension(key.slice(1, -1), scope) : byKey.get(key)),
      numbered: (number) => byNumber.get(number) ?? this.#extensionOf(fullName, number),
    }
    this.#messages.set(fullName, message)
    return message
  }

  #extensionOf(extendee: string, number: number): OptionField | undefined {
    this.#numbered ??= new Map(
      this.#types.extensions().map((extension) => {
        const extended = this.#types.find(extension.extendee, extension.scope)?.fullName ?? extension.extendee
        return [`${extended.replace(/^\./, '')} ${extension.field.tag}`, extension]
      }),
    )
    const found = this.#numbered.get(`${extendee} ${number}`)
    return found && this.#extensionField(found)
  }

  #extensionField(extension: Extension): OptionField {
    const known = this.#extensions.get(extension)
    if (known) return known
    const field = { ...this.#field(extension.field, extension.scope), key: `[${extension.fullName}]` }
    this.#extensions.set(extension, field)
    return field
  }

  #fieldsOf(message: Message, scope: readonly string[]): readonly OptionField[] {
    return [
      ...[...message.fields, ...message.groups].map((field) => this.#field(field, scope)),
      ...message.oneofs.flatMap(({ name, fields, groups }) =>
        [...fields, ...groups].map((field) => ({ ...this.#field(field, scope), oneof: name })),
      ),
    ]
  }

  #field(field: ProtoField | Group, scope: readonly string[]): OptionField {
    const common = { key: field.name, number: field.tag, oneof: undefined, constants: undefined }
    const isRepeated = field.label === 'repeated'
    const declared = (fullName: string) => () => this.declared(fullName)
    if (!('type' in field)) {
      return { ...common, type: 'group', isRepeated, message: declared([...scope, field.name].join('.')) }
    }
    if (isScalar(field.type)) return { ...common, type: field.type, isRepeated, message: nothing }
    const map = mapTypes(field.type)
    if (map) {
      return { ...common, type: 'message', isRepeated: true, message: () => this.#mapEntry(map, field.type, scope) }
    }
    const found = this.#types.find(field.type, scope)
    if (found?.element.kind === 'enum') {
      return { ...common, type: 'enum', isRepeated, constants: this.#constantsOf(found.element), message: nothing }
    }
    return { ...common, type: found && 'message', isRepeated, message: found ? declared(found.fullName) : nothing }
  }

  #mapEntry(map: { readonly key: string; readonly value: string }, type: string, scope: readonly string[]) {
    const part = (name: string, tag: number, of: string) =>
      this.#field(
        { name, tag, type: of, label: undefined, options: [], defaultValue: undefined, jsonName: undefined },
        scope,
      )
    return this.#message(`${scope.join('.')} ${type}`, () => [part('key', 1, map.key), part('value', 2, map.value)])
  }

  #constantsOf(element: Enum): EnumConstants {
    return this.#constants(
      element,
      element.constants.map(({ name, tag }) => ({ name, number: tag })),
    )
  }

  #constants(of: object, values: readonly { readonly name: string; readonly number: number }[]): EnumConstants {
    const known = this.#enums.get(of)
    if (known) return known
    const numbers = new Map(values.map(({ name, number }) => [name, number]))
    // The first of several names of a number.
    const names = new Map(values.toReversed().map(({ name, number }) => [number, name]))
    const constants = { numbers, names }
    this.#enums.set(of, constants)
    return constants
  }

  #builtInField(field: DescField): OptionField {
    const { message } = field
    return {
      key: field.name,
      number: field.number,
      type: message ? 'message' : field.enum ? 'enum' : SCALARS[field.scalar ?? ScalarType.BYTES],
      isRepeated: field.fieldKind === 'list',
      oneof: field.oneof?.name,
      constants: field.enum && this.#constants(field.enum, field.enum.values),
      message: message ? () => this.builtIn(message) : nothing,
    }
  }
}

function nothing(): undefined {
  return undefined
}

const SCALARS: Readonly<Record<ScalarType, string>> = {
  [ScalarType.DOUBLE]: 'double',
  [ScalarType.FLOAT]: 'float',
  [ScalarType.INT64]: 'int64',
  [ScalarType.UINT64]: 'uint64',
  [ScalarType.INT32]: 'int32',
  [ScalarType.FIXED64]: 'fixed64',
  [ScalarType.FIXED32]: 'fixed32',
  [ScalarType.BOOL]: 'bool',
  [ScalarType.STRING]: 'string',
  [ScalarType.BYTES]: 'bytes',
  [ScalarType.UINT32]: 'uint32',
  [ScalarType.SFIXED32]: 'sfixed32',
  [ScalarType.SFIXED64]: 'sfixed64',
  [ScalarType.SINT32]: 'sint32',
  [ScalarType.SINT64]: 'sint64',
}
