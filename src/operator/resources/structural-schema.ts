import { z } from 'zod'

/** A structural schema of a CustomResourceDefinition. */
export type StructuralSchema = { readonly [keyword: string]: unknown }

type Json = Record<string, unknown>

/**
 * Converts a zod schema to a structural schema. `withRules` becomes CEL validations. Unknown fields are pruned by the
 * API server instead of rejected, so `additionalProperties: false` is removed; a free-form map keeps its content.
 */
export function toStructuralSchema(schema: z.ZodType): StructuralSchema {
  const { ...structural } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    override: ({ jsonSchema }) => adapt(jsonSchema as Json),
  })
  return structural
}

function adapt(schema: Json): void {
  if (schema['additionalProperties'] === false) delete schema['additionalProperties']
  if (isAnything(schema['additionalProperties'])) {
    delete schema['additionalProperties']
    schema['x-kubernetes-preserve-unknown-fields'] = true
  }
  delete schema['propertyNames']
  delete schema['readOnly']
  if (schema['type'] === 'integer') adaptInteger(schema)
  describeDefault(schema)
  describeStability(schema)
  // A format that the API server validates itself.
  if (schema['format'] === 'date-time') delete schema['pattern']
  if (schema['validations'] !== undefined) {
    schema['x-kubernetes-validations'] = (schema['validations'] as readonly Rule[]).map(toValidation)
    delete schema['validations']
  }
}

type Rule = { readonly cel: string; readonly field?: string; readonly message: string; readonly reason?: string }

function toValidation({ cel, field, message, reason }: Rule): Json {
  return {
    rule: cel,
    message,
    ...(field === undefined ? {} : { fieldPath: `.${field}` }),
    ...(reason === undefined ? {} : { reason }),
  }
}

/** `kubectl explain` shows descriptions, but no defaults. */
function describeDefault(schema: Json): void {
  const { description, default: value } = schema as { readonly description?: string; readonly default?: unknown }
  if (description === undefined || value === undefined || typeof value === 'object') return
  schema['description'] = `${description} Default: ${value}.`
}

/** Ends the description of a field that is not part of the compatibility promise. */
export const MAY_CHANGE = 'May change in any version.'

function describeStability(schema: Json): void {
  if (schema['mayChange'] === true) schema['description'] = `${schema['description']} ${MAY_CHANGE}`
  delete schema['mayChange']
}

/** The bounds of an integer type are implied by its format. */
function adaptInteger(schema: Json): void {
  schema['format'] ??= 'int32'
  for (const bound of ['minimum', 'maximum']) {
    const value = Math.abs(Number(schema[bound]))
    if (value >= 2 ** 31 - 1) delete schema[bound]
  }
}

function isAnything(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
}
