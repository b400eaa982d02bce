import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { CompareOptions, Format, Incompatibility, ParsedSchema, ParseOptions, SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import type { SchemaTags, TagChange } from '../tags.ts'
import { type ProtoChangeType, type ProtoUnit, protobufChanges } from './compatibility.ts'
import { withoutCustomOptions, withoutExtensions } from './custom-options.ts'
import { fromFileDescriptor } from './descriptor-reader.ts'
import { toFileDescriptor } from './descriptor-writer.ts'
import { ProtoSyntaxError } from './lexer.ts'
import { normalizeProto, UnresolvedType } from './normalize.ts'
import { type OptionTypes, scopeOf } from './option-types.ts'
import { parseProto } from './parser.ts'
import { printProto } from './printer.ts'
import type { Message, ProtoFile } from './proto-file.ts'
import { protoTags, tagProto } from './tags.ts'
import type { ProtoDependency } from './type-table.ts'
import { validateProto } from './validate-proto.ts'
import { wellKnownFile } from './well-known-types.ts'

/** Protocol Buffers, proto2 and proto3. */
export const protobufFormat: Format = { type: 'PROTOBUF', parse: parseProtobufSchema }

function parseProtobufSchema(source: SchemaSource, options: ParseOptions = {}): ParsedSchema {
  const schema = new ProtobufSchema(fileOf(source), source)
  if (options.validation !== 'loose') schema.validate()
  return schema
}

/** Parses a file and all its imports. Throws a `SchemaError`. */
export function protoUnit(source: SchemaSource): ProtoUnit {
  const { file } = fileOf(source)
  return asSchemaError(() => ({ file, dependencies: importsOf(file, source) }))
}

type SentFile = { readonly file: ProtoFile; readonly isCompiled: boolean }

/** Parses a .proto text, or a base64-encoded file descriptor, which some clients send instead. */
function fileOf(source: SchemaSource): SentFile {
  const { text } = source
  try {
    return { file: parseProto(text), isCompiled: false }
  } catch (error) {
    const compiled = /^[A-Za-z0-9+/]+={0,2}$/.test(text) ? compiledFile(source) : undefined
    if (compiled) return { file: compiled, isCompiled: true }
    return asSchemaError(() => {
      throw error
    })
  }
}

function compiledFile(source: SchemaSource): ProtoFile | undefined {
  try {
    const descriptor = fromBinary(FileDescriptorProtoSchema, Buffer.from(source.text, 'base64'))
    const file = fromFileDescriptor(descriptor)
    const declared = optionTypesOf(file, source)
    return declared ? fromFileDescriptor(descriptor, declared) : file
  } catch (error) {
    if (error instanceof SchemaError) throw error
    // Not a descriptor. The caller reports the syntax error of the text.
    return undefined
  }
}

/** The custom options that a file and its imports declare; undefined if an import is missing, which is reported when it is needed. */
function optionTypesOf(file: ProtoFile, source: SchemaSource): OptionTypes | undefined {
  try {
    return scopeOf({ file, dependencies: importsOf(file, source) }).optionTypes
  } catch (error) {
    if (error instanceof UnresolvedType || error instanceof ProtoSyntaxError) return undefined
    throw error
  }
}

class ProtobufSchema implements ParsedSchema {
  readonly hasPatterns = false
  readonly type = 'PROTOBUF'
  readonly canonical: string
  readonly name: string | undefined
  readonly fields: readonly string[]
  readonly #source: SchemaSource
  readonly #file: ProtoFile
  readonly #isCompiled: boolean
  #unit: ProtoUnit | undefined

  constructor({ file, isCompiled }: SentFile, source: SchemaSource) {
    this.#file = file
    this.#isCompiled = isCompiled
    this.#source = source
    this.canonical = printProto(file)
    const first = file.types.find((type): type is Message => type.kind === 'message')
    this.name = first && (file.packageName === undefined ? first.name : `${file.packageName}.${first.name}`)
    this.fields = [...(first?.fields ?? []), ...(first?.oneofs.flatMap(({ fields }) => fields) ?? [])].map(
      ({ name }) => name,
    )
  }

  validate(): void {
    const { file, dependencies } = this.unit()
    asSchemaError(() => {
      validateProto(file)
      normalizeProto(file, dependencies)
    })
  }

  /** The file with its imports, parsed on first use: reading the topic does not need it. Throws a `SchemaError`. */
  unit(): ProtoUnit {
    this.#unit ??= asSchemaError(() => ({ file: this.#file, dependencies: importsOf(this.#file, this.#source) }))
    return this.#unit
  }

  normalized(): ParsedSchema {
    const { file, dependencies } = this.unit()
    const normal = asSchemaError(() => normalizeProto(file, dependencies))
    return new ProtobufSchema({ file: normal, isCompiled: this.#isCompiled }, this.#source)
  }

  /**
   * A descriptor does not have the notation of its text, such as the order of options and the scopes of names. So it is
   * equivalent to a schema that compiles to the same descriptor, or that does without the custom options: Confluent's registry,
   * and the clients of which a schema comes, omit them.
   */
  isEquivalent(other: ParsedSchema): boolean {
    if (other.type !== this.type) return false
    if (other.canonical === this.canonical) return true
    if (!this.#isCompiled) return false
    const written = (other as ProtobufSchema).#comparable()
    if (written === undefined) return false
    return written === this.#comparable() || written === this.#withoutCustomOptions().#comparable()
  }

  /** The descriptor of the normalized file; undefined if it cannot be compiled. */
  #comparable(): string | undefined {
    try {
      return compiledText((this.normalized() as ProtobufSchema).unit())
    } catch (error) {
      if (error instanceof SchemaError) return undefined
      throw error
    }
  }

  #withoutCustomOptions(): ProtobufSchema {
    return new ProtobufSchema({ file: withoutCustomOptions(this.#file), isCompiled: true }, this.#source)
  }

  formatted(format: string): string | undefined {
    if (format === 'ignore_extensions') return printProto(withoutCustomOptions(withoutExtensions(this.#file)))
    if (format !== 'serialized') return undefined
    return compiledText(this.unit())
  }

  tags(): readonly SchemaTags[] {
    return protoTags(this.#file)
  }

  tagged(change: TagChange): string {
    return printProto(tagProto(this.#file, change))
  }

  incompatibilities(writer: ParsedSchema, { roles }: CompareOptions): readonly Incompatibility[] {
    return protobufChanges((writer as ProtobufSchema).unit(), this.unit()).map(({ type, path }) => {
      const description = WORDINGS[type](path, roles.reader, roles.writer)
      return { type, path, description, message: `{errorType:"${type}", description:"${description}"}` }
    })
  }
}

/**
 * Compiles a file to a descriptor in base64. Throws a `SchemaError` for what only a compiler checks, such as an option with
 * a value of another type.
 */
function compiledText(unit: ProtoUnit): string {
  try {
    return Buffer.from(toBinary(FileDescriptorProtoSchema, toFileDescriptor(unit))).toString('base64')
  } catch (error) {
    throw new SchemaError(`the schema cannot be compiled: ${(error as Error).message}`, { cause: error })
  }
}

/** The messages of Confluent's registry. */
const WORDINGS: Readonly<Record<ProtoChangeType, (at: string, reader: string, writer: string) => string>> = {
  PACKAGE_CHANGED: (at, reader, writer) =>
    `The package at '${at}' in the ${reader} schema does not match the package in the ${writer} schema`,
  MESSAGE_REMOVED: (at, reader, writer) =>
    `The ${reader} schema is missing a MESSAGE type at path '${at}' in the ${writer} schema`,
  FIELD_KIND_CHANGED: (at, reader, writer) =>
    `The type of a field at path '${at}' in the ${reader} schema does not match the ${writer} schema`,
  FIELD_SCALAR_KIND_CHANGED: (at, reader, writer) =>
    `The kind of a SCALAR field at path '${at}' in the ${reader} schema does not match its kind in the ${writer} schema`,
  FIELD_NAMED_TYPE_CHANGED: (at, reader, writer) =>
    `The type of a MESSAGE field at path '${at}' in the ${reader} schema does not match its type in the ${writer} schema`,
  FIELD_NUMERIC_LABEL_CHANGED: (at, reader, writer) =>
    `The label for a NUMERIC field at path '${at}' in the ${reader} schema does not match its label in the ${writer} schema`,
  REQUIRED_FIELD_ADDED: (at, reader, writer) =>
    `A required field  at path '${at}' in the ${reader} schema is missing in the ${writer} schema`,
  REQUIRED_FIELD_REMOVED: (at, reader, writer) =>
    `The ${reader} schema is missing a required field at path: '${at}' in the ${writer} schema`,
  ONEOF_FIELD_REMOVED: (at, reader, writer) =>
    `The ${reader} schema is missing a oneof field at path '${at}' in the ${writer} schema`,
  MULTIPLE_FIELDS_MOVED_TO_ONEOF: (at, reader, writer) =>
    `Multiple fields in the oneof at path '${at}' in the ${reader} schema are outside a oneof in the ${writer} schema`,
  FIELD_MOVED_TO_EXISTING_ONEOF: (at, reader, writer) =>
    `A field in the oneof at path '${at}' in the ${reader} schema is outside an existing oneof in the ${writer} schema`,
}

/** All direct and transitive imports. References take precedence over well-known files. Throws `UnresolvedType`. */
function importsOf(file: ProtoFile, { dependencies = [] }: SchemaSource): readonly ProtoDependency[] {
  const found = new Map<string, ProtoDependency>()
  const left = [...file.imports, ...file.publicImports]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (found.has(path)) continue
    const reference = dependencies.find(({ name }) => name === path)
    const text = reference?.text ?? wellKnownFile(path)
    if (text === undefined)
      throw new UnresolvedType(`the import '${path}' is neither among the references nor a well-known file`)
    const imported = parseProto(text)
    found.set(path, { path, file: imported, ...(reference ? { reference } : {}) })
    left.push(...imported.imports, ...imported.publicImports)
  }
  return [...found.values()]
}

function asSchemaError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    const known = error instanceof ProtoSyntaxError || error instanceof UnresolvedType
    throw known ? new SchemaError(error.message, { cause: error }) : error
  }
}
