import { z } from 'zod'

/** A structural schema, as a CustomResourceDefinition holds it. */
export type Structural = { readonly [keyword: string]: unknown }

type Json = Record<string, unknown>

/**
 * The API server's view of what we parse. `withRules` becomes CEL validations; unknown fields are pruned there, not
 * refused, so `additionalProperties: false` goes; a map of anything keeps what it holds.
 */
export function structuralOf(schema: z.ZodType): Structural {
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
  // A format of Kubernetes' own, which it checks by itself.
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

/** The bounds of a number's own kind are its format. */
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
