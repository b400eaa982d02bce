import type { FormatType } from '../formats/format.ts'
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
 * Whether a schema is compared with these versions on the main thread: each is small, and the comparisons together take no longer
 * than that of two schemas of the maximum size.
 */
export function areComparedInProcess(schema: UnparsedSchema, versions: readonly UnparsedSchema[]): boolean {
  const max = COMPARED_MAX[schema.type]
  const own = charactersOf(schema)
  const others = versions.map(charactersOf)
  const sum = others.reduce((characters, other) => characters + own + other, 0)
  return own <= max && others.every((other) => other <= max) && sum <= 2 * max
}

/** Whether tags are read or changed on the main thread. This parses the text once more. */
export function isTaggedInProcess(schema: UnparsedSchema): boolean {
  return charactersOf(schema) <= TAGGED_MAX
}

/** The length of a schema with the schemas that it references. */
export function charactersOf({ text, dependencies = [] }: UnparsedSchema): number {
  return dependencies.reduce((sum, dependency) => sum + dependency.text.length, text.length)
}
