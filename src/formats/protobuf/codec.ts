import {
  create,
  createFileRegistry,
  type DescMessage,
  type FileRegistry,
  fromBinary,
  type Message,
  type MessageShape,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import type { Codec, SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import type { ProtoUnit } from './compatibility.ts'
import { toFileDescriptor } from './descriptor-writer.ts'
import type { Message as MessageElement, TypeElement } from './proto-file.ts'
import { protoUnit } from './protobuf-format.ts'
import { protoTags } from './tags.ts'
import type { ProtoDependency } from './type-table.ts'

const OWN_NAME = 'default.proto'

/** A message of a file: its full name, and the indexes of its enclosing messages and its own, outermost first. */
export type MessageType = { readonly name: string; readonly indexes: readonly number[] }

/**
 * The messages of a schema and their codecs. Values are objects as in @bufbuild/protobuf: fields in lowerCamelCase,
 * 64-bit numbers as bigint, a oneof as `{ case, value }`. All methods throw a `SchemaError`.
 */
export class ProtobufMessages {
  readonly #unit: ProtoUnit
  #registry: FileRegistry | undefined

  constructor(source: SchemaSource) {
    this.#unit = protoUnit(source)
  }

  /** Finds a message by full name; without a name, returns the first message. */
  find(name?: string): MessageType {
    const all = [...messagesIn(this.#unit.file.types, this.#unit.file.packageName ?? '', [])]
    const found = name === undefined ? all[0] : all.find((message) => message.name === name)
    if (found) return found
    throw new SchemaError(
      name === undefined
        ? 'the schema has no message'
        : `the schema has no message ${name}; its messages are ${all.map((message) => message.name).join(', ')}`,
    )
  }

  at(indexes: readonly number[]): MessageType {
    const all = messagesIn(this.#unit.file.types, this.#unit.file.packageName ?? '', [])
    for (const message of all) if (message.indexes.join() === indexes.join()) return message
    throw new SchemaError(`the schema has no message at [${indexes.join()}]`)
  }

  /** The full names of all messages. Nested messages come after their enclosing message. */
  names(): readonly string[] {
    const { types, packageName = '' } = this.#unit.file
    return [...messagesIn(types, packageName, [])].map(({ name }) => name)
  }

  /** The tags of fields and messages in the schema and its imports, by full name. */
  tagsByName(): ReadonlyMap<string, readonly string[]> {
    const files = [this.#unit.file, ...this.#unit.dependencies.map(({ file }) => file)]
    return new Map(
      files.flatMap((file) => {
        const space = file.packageName ? `${file.packageName}.` : ''
        return protoTags(file).map(({ schemaEntity, tags }) => [`${space}${schemaEntity.entityPath}`, tags] as const)
      }),
    )
  }

  /** `toJson` returns the JSON of a message, as protobuf specifies it, with the default values of fields that are not set. */
  codec(message: MessageType): Codec & { readonly toJson: (value: unknown) => unknown } {
    const descriptor = this.descriptor(message)
    return {
      toJson: (value) =>
        attempt('the message has no JSON form', () =>
          toJson(descriptor, value as Message, {
            alwaysEmitImplicit: true,
            ...(this.#registry && { registry: this.#registry }),
          }),
        ),
      encode: (value) => attempt('the value is not valid for its schema', () => encode(descriptor, value)),
      decode: (bytes) => attempt('the data is not valid for its schema', () => fromBinary(descriptor, bytes)),
    }
  }

  descriptor({ name }: MessageType): DescMessage {
    this.#registry ??= attempt('the schema cannot be compiled', () => compile(this.#unit))
    const found = this.#registry.getMessage(name)
    if (!found) throw new SchemaError(`the schema has no message ${name}`)
    return found
  }
}

function encode(descriptor: DescMessage, value: unknown): Uint8Array {
  if (value === null || typeof value !== 'object')
    throw new TypeError(`a message must be an object, not ${typeof value}`)
  const named = (value as { readonly $typeName?: unknown }).$typeName
  if (named !== undefined && named !== descriptor.typeName) {
    throw new TypeError(`expected a ${descriptor.typeName}, got a ${String(named)}`)
  }
  for (const key of Object.keys(value)) {
    const known = key.startsWith('$') || descriptor.members.some(({ localName }) => localName === key)
    if (!known) throw new TypeError(`${descriptor.typeName} has no field '${key}'`)
  }
  return toBinary(descriptor, create(descriptor, value as MessageShape<DescMessage>))
}

function compile({ file, dependencies }: ProtoUnit): FileRegistry {
  const compiled: FileDescriptorProto[] = importedFirst(dependencies).map((one) =>
    toFileDescriptor({ file: one.file, dependencies }, { name: one.path, customOptions: false }),
  )
  compiled.push(toFileDescriptor({ file, dependencies }, { name: OWN_NAME, customOptions: false }))
  return createFileRegistry(create(FileDescriptorSetSchema, { file: compiled }))
}

/** Sorts files so that each one comes after its imports, as @bufbuild/protobuf requires. */
function importedFirst(dependencies: readonly ProtoDependency[]): readonly ProtoDependency[] {
  const ordered = new Set<ProtoDependency>()
  const seen = new Set<string>()
  const visit = (path: string): void => {
    const found = seen.has(path) ? undefined : dependencies.find((one) => one.path === path)
    seen.add(path)
    if (found === undefined) return
    for (const inner of [...found.file.imports, ...found.file.publicImports]) visit(inner)
    ordered.add(found)
  }
  for (const { path } of dependencies) visit(path)
  return [...ordered]
}

function* messagesIn(types: readonly TypeElement[], scope: string, path: readonly number[]): Generator<MessageType> {
  const messages = types.filter((type): type is MessageElement => type.kind === 'message')
  for (const [index, message] of messages.entries()) {
    const name = scope === '' ? message.name : `${scope}.${message.name}`
    const indexes = [...path, index]
    yield { name, indexes }
    yield* messagesIn(message.types, name, indexes)
  }
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof SchemaError) throw error
    throw new SchemaError(`${what}: ${(error as Error).message}`, { cause: error })
  }
}
