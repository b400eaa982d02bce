import { NameTree } from './name-tree.ts'
import type { Message, ProtoField, ProtoFile, TypeElement } from './proto-file.ts'

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

/** The scope in which a name is resolved: the known types, and the enclosing packages and messages, outermost first. */
export type Scope = { readonly types: TypeTable; readonly path: readonly string[] }

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

export function mapTypes(type: string): { readonly key: string; readonly value: string } | undefined {
  const match = /^map<([^,]+), (.+)>$/.exec(type)
  return match?.[1] !== undefined && match[2] !== undefined ? { key: match[1], value: match[2] } : undefined
}

/** An extension field with its full name. */
type Extension = { readonly fullName: string; readonly field: ProtoField }

/** All types that a file can reference: its own and those of its imports. */
export class TypeTable {
  readonly packageName: string
  readonly #types = new NameTree<TypeInfo>()
  readonly #extensions = new NameTree<Extension>()

  constructor(file: ProtoFile, dependencies: Iterable<ProtoDependency>) {
    this.packageName = file.packageName ?? ''
    for (const { file: dependency, reference } of dependencies) this.#collect(dependency, reference ?? 'built-in')
    this.#collect(file, 'file')
  }

  /** Resolves `name` in `scope` (packages and messages, outermost first). The innermost match takes precedence. */
  find(name: string, scope: readonly string[]): TypeInfo | undefined {
    return this.#types.resolve(name, scope)
  }

  /** Resolves the name of an extension field, as used in options, to its full name. */
  extensionName(name: string, scope: readonly string[]): string | undefined {
    return this.#extensions.resolve(name, scope)?.fullName
  }

  extension(fullName: string): ProtoField | undefined {
    return this.#extensions.get(fullName)?.field
  }

  #collect(file: ProtoFile, origin: TypeInfo['origin']): void {
    const { packageName = '' } = file
    const path = splitName(packageName)
    for (const { fields } of file.extends) this.#addExtensions(fields, path, packageName)
    for (const type of file.types) this.#add(type, { path, fullName: packageName, packageName, origin })
  }

  #add(element: TypeElement, outer: Enclosing): void {
    const { packageName, origin } = outer
    const path = [...outer.path, element.name]
    const fullName = qualified(outer.fullName, element.name)
    const mapType = element.kind === 'message' ? mapTypeOf(element) : undefined
    this.#types.set(path, { fullName, packageName, element, origin, mapType })
    if (element.kind === 'enum') return
    for (const { fields } of element.extends) this.#addExtensions(fields, path, fullName)
    for (const nested of element.types) this.#add(nested, { path, fullName, packageName, origin })
  }

  #addExtensions(fields: readonly ProtoField[], path: readonly string[], scope: string): void {
    for (const field of fields) {
      this.#extensions.set([...path, field.name], { fullName: qualified(scope, field.name), field })
    }
  }
}

/** The package or message that contains a type. */
type Enclosing = Pick<TypeInfo, 'fullName' | 'packageName' | 'origin'> & { readonly path: readonly string[] }

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
