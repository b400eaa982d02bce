import type { SchemaSource } from '../format.ts'
import { SchemaError } from '../schema-error.ts'
import type { Draft } from './dialect.ts'
import { readJsonSchema } from './read-json-schema.ts'
import { SchemaLocation } from './schema-location.ts'
import type { PlainJson } from './schema-model.ts'
import { SchemaValidator, type ValueCheck } from './schema-validator.ts'
import { META_SCHEMA_URI } from './standard-meta-schema.ts'

const checks = new Map<Draft, ValueCheck>()

/** Throws a `SchemaError` with path and reason if a keyword has a value that the draft does not allow. */
export function checkMetaSchema({ value, dialect: { draft } }: SchemaLocation): void {
  const check = checks.get(draft) ?? metaSchemaCheck(draft)
  checks.set(draft, check)
  const problem = check(value)
  if (problem !== undefined) throw new SchemaError(problem)
}

function metaSchemaCheck(draft: Draft): ValueCheck {
  const uri = META_SCHEMA_URI[draft]
  const schema: PlainJson = { $schema: uri, $ref: uri }
  return new SchemaValidator().check(SchemaLocation.ofDocument(schema))
}

/** Compiles a schema with the schemas that it references, of any draft. Throws a `SchemaError`. */
export function compileJsonSchema(source: SchemaSource): ValueCheck {
  const location = readJsonSchema(source)
  for (const document of location.documents) checkMetaSchema(document)
  return new SchemaValidator().check(location)
}
