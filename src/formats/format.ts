import type { Dependency, SchemaReference } from './references.ts'
import type { SchemaTags, TagChange } from './tags.ts'

/**
 * A schema type, as the registry and the serializers use it. Each format has its own folder. Code outside that folder
 * uses a parsed schema only through `ParsedSchema`.
 */
export interface Format {
  readonly type: FormatType
  /** Parses a schema; without side effects. Throws a `SchemaError` that states the problem and its location. */
  parse(source: SchemaSource, options?: ParseOptions): ParsedSchema
}

export type FormatType = 'AVRO' | 'JSON' | 'PROTOBUF'

/**
 * A schema text with its references. `dependencies` are all directly and transitively referenced schemas; a schema
 * comes after those that it references.
 */
export type SchemaSource = {
  readonly text: string
  readonly references?: readonly SchemaReference[]
  readonly dependencies?: readonly Dependency[]
}

export type ParseOptions = {
  /**
   * `strict` makes all checks of the language and is used for new schemas. `loose` accepts everything that can be
   * parsed and is used for stored schemas. Default: `strict`.
   */
  readonly validation?: 'strict' | 'loose'
}

/** An immutable parsed schema. Its methods take only schemas of the same format. */
export interface ParsedSchema {
  readonly type: FormatType
  /** The canonical text, which is stored and compared. It is formatted as in Confluent's registry. */
  readonly canonical: string
  /** The full name of the record or of the first message, or the title. Used by subject name strategies. */
  readonly name: string | undefined
  /** The names of the top-level fields or properties. */
  readonly fields: readonly string[]
  /** Whether a comparison has to match regular expressions from the schema or from its references. */
  readonly hasPatterns: boolean
  /** The normalized schema (`normalize=true`): equal for schemas that differ only in notation. */
  normalized(): ParsedSchema
  /**
   * Whether a lookup with this schema finds the other one. Schemas with equal canonical texts are equivalent; Avro
   * schemas, and a Protobuf descriptor and a schema, can be equivalent with different texts.
   */
  isEquivalent(other: ParsedSchema): boolean
  /**
   * False if a schema with this text is neither equivalent nor has an equal canonical text, as far as the text shows it
   * without being parsed as a schema. Absent: always true.
   */
  canEqual?(text: string): boolean
  /**
   * The text for `?format=`; undefined if the format is not supported. `resolved` is the text with inlined references.
   */
  formatted(format: string): string | undefined
  /** The inline tags, by record or field. */
  tags(): readonly SchemaTags[]
  /** The text with changed tags. Throws a `SchemaError` for a path that does not exist. */
  tagged(change: TagChange): string
  /**
   * Returns the reasons why data written with `writer` cannot be read with this schema; empty if it can. Reports all
   * reasons, in the order of this schema.
   */
  incompatibilities(writer: ParsedSchema, options: CompareOptions): readonly Incompatibility[]
}

export type CompareOptions = {
  /**
   * The names of the two schemas in messages. For backward compatibility the reader is `new` and the writer `old`; for
   * forward compatibility it is the reverse.
   */
  readonly roles: { readonly reader: string; readonly writer: string }
  readonly policy?: CompatibilityPolicy
}

export const COMPATIBILITY_POLICIES = ['STRICT', 'LENIENT', 'LOGICAL'] as const
/** LENIENT applies to JSON Schema only. LOGICAL is compared as STRICT. */
export type CompatibilityPolicy = (typeof COMPATIBILITY_POLICIES)[number]

export type Incompatibility = {
  /** The error type, as in Confluent's registry, such as `TYPE_MISMATCH` or `MESSAGE_REMOVED`. */
  readonly type: string
  /** The location in the reader: a JSON pointer, with the prefix `#` for JSON Schema and Protobuf. */
  readonly path: string
  /** The description, as in Confluent's registry. */
  readonly description: string
  /** The message of a verbose response: `{errorType:'…', description:'…', additionalInfo:'…'}`. */
  readonly message: string
}

/** Converts values to bytes and back, for a writer's schema and optionally a reader's. Both throw a `SchemaError`. */
export type Codec<Value = unknown> = {
  encode(value: Value): Uint8Array
  decode(bytes: Uint8Array): Value
}
