import { NameTree } from './name-tree.ts'
import type { Extend, Group, Message, OneOf, ProtoField, ProtoFile, TypeElement } from './proto-file.ts'

/** An imported file. `reference` is the registered version; absent for built-in files. */
export type ProtoDependency = {
  /** The path in the import statement. */
  readonly path: string
  readonly file: ProtoFile
  readonly reference?: { readonly subject: string; readonly version: number }
}

/** A message or an enum with its full name and its origin: the file itself, a reference, or a built-in file. */
export type TypeInfo = {
  readonly fullName: string
  readonly packageName: string
  readonly element: TypeElement
  readonly origin: 'file' | 'built-in' | { readonly subject: string; readonly version: number }
  /** `map<K, V>` if this is the entry message that a compiler generated for a map field. */
  readonly mapType: string | undefined
}

const SCALARS: ReadonlySet<string> = new Set([
  'int32',
  'int64',
  'uint32',
  'uint64',
  'sint32',
  'sint64',
  'fixed32',
  'fixed64',
  'sfixed32',
  'sfixed64',
  'bool',
  'float',
  'double',
  'string',
  'bytes',
])

export function isScalar(type: string): boolean {
  return SCALARS.has(type)
}

export function isNumber(type: string): boolean {
  return isScalar(type) && type !== 'bool' && type !== 'string' && type !== 'bytes'
}

export function mapTypes(type: string): { readonly key: string; readonly value: string } | undefined {
  const match = /^map<([^,]+), (.+)>$/.exec(type)
  return match?.[1] !== undefined && match[2] !== undefined ? { key: match[1], value: match[2] } : undefined
}

/** An extension field with its full name, and the name of the extended message, which is resolved in `scope` as its type is. */
export type Extension = {
  readonly fullName: string
  readonly field: ProtoField | Group
  readonly extendee: string
  readonly scope: readonly string[]
}

/** All types that a file can reference: its own and those of its imports. */
export class TypeTable {
  readonly packageName: string
  readonly #types = new NameTree<TypeInfo>()
  readonly #extensions = new NameTree<Extension>()
  readonly #allExtensions: Extension[] = []

  constructor(file: ProtoFile, dependencies: Iterable<ProtoDependency>) {
    this.packageName = file.packageName ?? ''
    for (const { file: dependency, reference } of dependencies) this.#collect(dependency, reference ?? 'built-in')
    this.#collect(file, 'file')
  }

  /** Resolves `name` in `scope` (packages and messages, outermost first). The innermost match takes precedence. */
  find(name: string, scope: readonly string[]): TypeInfo | undefined {
    return this.#types.resolve(name, scope)
  }

  /** Resolves the name of an extension field, as used in options. */
  extension(name: string, scope: readonly string[]): Extension | undefined {
    return this.#extensions.resolve(name, scope)
  }

  extensions(): readonly Extension[] {
    return this.#allExtensions
  }

  #collect(file: ProtoFile, origin: TypeInfo['origin']): void {
    const { packageName = '' } = file
    const enclosing = { path: splitName(packageName), fullName: packageName, packageName, origin }
    for (const extend of file.extends) this.#addExtensions(extend, enclosing)
    for (const type of file.types) this.#add(type, enclosing)
  }

  #add(element: TypeElement, outer: Enclosing): void {
    const { packageName, origin } = outer
    const path = [...outer.path, element.name]
    const fullName = qualified(outer.fullName, element.name)
    const mapType = element.kind === 'message' ? mapTypeOf(element) : undefined
    this.#types.set(path, { fullName, packageName, element, origin, mapType })
    if (element.kind === 'enum') return
    const enclosing = { path, fullName, packageName, origin }
    for (const extend of element.extends) this.#addExtensions(extend, enclosing)
    for (const nested of [...element.types, ...groupsOf(element).map(groupMessage)]) this.#add(nested, enclosing)
  }

  #addExtensions({ name: extendee, fields, groups }: Extend, enclosing: Enclosing): void {
    const { path: scope } = enclosing
    for (const field of [...fields, ...groups]) {
      const name = 'type' in field ? field.name : groupFieldName(field.name)
      const extension = { fullName: qualified(enclosing.fullName, name), field, extendee, scope }
      this.#extensions.set([...scope, name], extension)
      this.#allExtensions.push(extension)
    }
    for (const group of groups) this.#add(groupMessage(group), enclosing)
  }
}

/** The package or message that contains a type. */
type Enclosing = Pick<TypeInfo, 'fullName' | 'packageName' | 'origin'> & { readonly path: readonly string[] }

/** The groups of a message, also those in its oneofs. */
export function groupsOf({ groups, oneofs }: { readonly groups: readonly Group[]; readonly oneofs: readonly OneOf[] }) {
  return [...groups, ...oneofs.flatMap((oneof) => oneof.groups)]
}

/** A group declares a message and a field. */
export function groupMessage({ name, fields }: Group): Message {
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

export function groupFieldName(name: string): string {
  return name.toLowerCase()
}

function qualified(scope: string, name: string): string {
  return scope === '' ? name : `${scope}.${name}`
}

export function splitName(name: string): readonly string[] {
  return name === '' ? [] : name.split('.')
}

function mapTypeOf(message: Message): string | undefined {
  const isEntry = message.options.some(
    ({ name, value }) => name === 'map_entry' && value.kind === 'word' && value.text === 'true',
  )
  const typeOf = (name: string) => message.fields.find((field) => field.name === name)?.type
  const [key, value] = [typeOf('key'), typeOf('value')]
  return isEntry && key !== undefined && value !== undefined ? `map<${key}, ${value}>` : undefined
}
