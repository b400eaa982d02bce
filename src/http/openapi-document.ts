/** A JSON Schema (2020-12), as used by OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>

export const stringSchema: JsonSchema = { type: 'string' }
export const integerSchema: JsonSchema = { type: 'integer' }
export const arrayOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
export const mapOf = (values: JsonSchema): JsonSchema => ({ type: 'object', additionalProperties: values })
export const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
export const schemaRef = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/** Builds an OpenAPI 3.1 document from operations by `METHOD /path` and the schemas of their bodies. */
export function buildOpenApiDocument(
  info: { readonly title: string; readonly version: string; readonly description: string },
  operations: Iterable<readonly [line: string, operation: JsonSchema]>,
  schemas: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const [line, operation] of operations) {
    const [method = '', path = ''] = line.split(' ')
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    paths,
    components: {
      schemas,
      securitySchemes: {
        basic: { type: 'http', scheme: 'basic', description: 'With authentication.method=BASIC.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'With authentication.method=BEARER.' },
      },
    },
    security: [{}, { basic: [] }, { bearer: [] }],
  }
}

/** The parameters in braces of a path. */
export function pathParameters(
  line: string,
  schemaOf: (name: string) => JsonSchema = () => stringSchema,
): readonly JsonSchema[] {
  return [...line.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: schemaOf(name),
  }))
}
