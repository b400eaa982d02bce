import type { SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import { SchemaLocation } from './schema-location.ts'
import type { PlainJson } from './schema-model.ts'
import { UnresolvedReference } from './schema-resources.ts'

/**
 * Parses a schema with the schemas that it references. `parse` throws a `SyntaxError` for a text that is not JSON. Throws a
 * `SchemaError`.
 */
export function readJsonSchema(
  { text, dependencies = [] }: SchemaSource,
  parse: (text: string) => unknown = JSON.parse,
): SchemaLocation {
  try {
    const references = dependencies.map((dependency) => [dependency.name, parse(dependency.text) as PlainJson] as const)
    return SchemaLocation.ofDocument(parse(text) as PlainJson, new Map(references))
  } catch (error) {
    const isExpected = error instanceof SyntaxError || error instanceof UnresolvedReference
    throw isExpected ? new SchemaError(error.message, { cause: error }) : error
  }
}
