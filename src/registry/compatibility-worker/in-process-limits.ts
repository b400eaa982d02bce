import type { FormatType, ParsedSchema } from '../../formats/format.ts'
import type { UnparsedSchema } from './worker-job.ts'

type Limits = Readonly<Record<FormatType, number>>

/** Reading grows with the text: so many characters, with those referred to, take some 15 ms at worst. */
const READ_HERE_MAX: Limits = { AVRO: 65_536, PROTOBUF: 65_536, JSON: 16_384 }
/** Comparing grows with the square in Avro's types and faster in JSON's branches: so many take some 30 ms at worst. */
const COMPARED_HERE_MAX: Limits = { AVRO: 8_192, PROTOBUF: 65_536, JSON: 2_048 }

/** For all languages: so many take some 15 ms at worst, with thousands of tags. */
const TAGGED_HERE_MAX = 8_192

/** Whether a schema is read where everybody waits for it; else in a process of its own. */
export function isParsedInProcess(schema: UnparsedSchema): boolean {
  return charactersOf(schema) <= READ_HERE_MAX[schema.type]
}

/** Whether it is compared there. Expressions of its author are matched elsewhere: not all of them in linear time. */
export function isComparedInProcess(schema: UnparsedSchema, parsed: ParsedSchema): boolean {
  return charactersOf(schema) <= COMPARED_HERE_MAX[schema.type] && !parsed.hasPatterns
}

/** Whether its tags are: that reads it once more. */
export function isTaggedInProcess(schema: UnparsedSchema): boolean {
  return charactersOf(schema) <= TAGGED_HERE_MAX
}

function charactersOf({ text, dependencies = [] }: UnparsedSchema): number {
  return dependencies.reduce((sum, dependency) => sum + dependency.text.length, text.length)
}
