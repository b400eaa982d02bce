import type { Dependency, SchemaReference } from './references.ts'
import type { SchemaTags, TagChange } from './tags.ts'

/**
 * What the registry and the serializers need of a schema language. A format is one folder; nothing outside it looks
 * inside a parsed schema.
 */
export interface Format {
  readonly type: FormatType
  /** Throws a `SchemaError` that says what is wrong and where. Pure: the same source gives the same schema. */
  parse(source: SchemaSource, options?: ParseOptions): ParsedSchema
}

export type FormatType = 'AVRO' | 'JSON' | 'PROTOBUF'

/** A schema as it is written, with the texts of all it refers to, directly or not: what others need comes first. */
export type SchemaSource = {
  readonly text: string
  readonly references?: readonly SchemaReference[]
  readonly dependencies?: readonly Dependency[]
}

export type ParseOptions = {
  /**
   * `strict`: everything the language demands, for schemas that are new. `loose`: what can be read at all, for those that
   * are stored already. Default `strict`.
   */
  readonly validation?: 'strict' | 'loose'
}

/** A schema that was understood. Only schemas of one format meet in its methods. Immutable. */
export interface ParsedSchema {
  readonly type: FormatType
  /** What is stored and compared: the text without what carries no meaning, as the original registry writes it. */
  readonly canonical: string
  /** Full name of the record, of the first message, or the title: what subject name strategies use. */
  readonly name: string | undefined
  /** Names of the outermost fields or properties. */
  readonly fields: readonly string[]
  /** Whether comparing it matches expressions that its author wrote, here or in what it refers to. */
  readonly hasPatterns: boolean
  /** The same meaning in one spelling (`normalize=true`). */
  normalized(): ParsedSchema
  /** Whether a lookup with this schema finds the other one. Equal canonical texts always are; in Avro others are, too. */
  isEquivalent(other: ParsedSchema): boolean
  /** The text for `?format=`; undefined when this format does not know the word. `resolved` has no references left. */
  formatted(format: string): string | undefined
  /** Tags that stand in the schema, by the records and fields that carry them. */
  tags(): readonly SchemaTags[]
  /** The text with other tags. Throws a `SchemaError` for a path that leads nowhere. */
  tagged(change: TagChange): string
  /**
   * Why data written with `writer` can't be read with this schema; empty when it can. Everything that is wrong is told,
   * in the order of this schema.
   */
  incompatibilities(writer: ParsedSchema, options: CompareOptions): readonly Incompatibility[]
}

export type CompareOptions = {
  /** What the findings call the two sides: `new` reads `old` going backward, `old` reads `new` going forward. */
  readonly roles: { readonly reader: string; readonly writer: string }
  readonly policy?: CompatibilityPolicy
}

export const COMPATIBILITY_POLICIES = ['STRICT', 'LENIENT', 'LOGICAL'] as const
/** LENIENT applies to JSON Schema only. LOGICAL is compared as STRICT. */
export type CompatibilityPolicy = (typeof COMPATIBILITY_POLICIES)[number]

export type Incompatibility = {
  /** The original registry's word, such as `TYPE_MISMATCH` or `FIELD_REMOVED`. */
  readonly type: string
  /** Where in the reader: a JSON pointer, `#/…` for JSON Schema and Protobuf. */
  readonly path: string
  /** The finding as a sentence, in the original registry's words. */
  readonly description: string
  /** The whole finding as verbose answers write it: `{errorType:'…', description:'…', additionalInfo:'…'}`. */
  readonly message: string
}

/** Between values and their bytes, for one writer's schema and possibly another reader's. Both may throw a `SchemaError`. */
export type Codec<Value = unknown> = {
  encode(value: Value): Uint8Array
  decode(bytes: Uint8Array): Value
}

/** A text that is no schema, or a value that does not fit one. */
export class SchemaError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SchemaError'
  }
}
