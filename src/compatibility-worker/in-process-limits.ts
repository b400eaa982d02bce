import type { FormatType, ParsedSchema } from '../formats/format.ts'
import type { UnparsedSchema } from './worker-job.ts'

type Limits = Readonly<Record<FormatType, number>>

/**
 * In characters, including the referenced schemas. Parsing takes about 15 ms in the worst case, and printing deeply nested
 * Protobuf messages, whose canonical text is indented, up to 70 ms.
 */
const PARSED_MAX: Limits = { AVRO: 65_536, PROTOBUF: 65_536, JSON: 16_384 }
/**
 * In characters. Comparison time is quadratic in the types of an Avro schema and grows faster with the branches of a
 * JSON schema: about 30 ms in the worst case.
 */
const COMPARED_MAX: Limits = { AVRO: 8_192, PROTOBUF: 65_536, JSON: 2_048 }

/** In characters, for all schema types: about 15 ms in the worst case, with thousands of tags. */
const TAGGED_MAX = 8_192

/** Whether a schema is small enough to be parsed on the main thread; otherwise the compatibility worker parses it. */
export function isParsedInProcess(schema: UnparsedSchema): boolean {
  return charactersOf(schema) <= PARSED_MAX[schema.type]
}

/**
 * Whether a schema is small enough to be compared on the main thread. A schema with patterns never is, because not
 * every regular expression is matched in linear time.
 */
export function isComparedInProcess(schema: UnparsedSchema, parsed: ParsedSchema): boolean {
  return charactersOf(schema) <= COMPARED_MAX[schema.type] && !parsed.hasPatterns
}

/** Whether tags are read or changed on the main thread. This parses the text once more. */
export function isTaggedInProcess(schema: UnparsedSchema): boolean {
  return charactersOf(schema) <= TAGGED_MAX
}

/** The length of a schema with the schemas that it references. */
export function charactersOf({ text, dependencies = [] }: UnparsedSchema): number {
  return dependencies.reduce((sum, dependency) => sum + dependency.text.length, text.length)
}
