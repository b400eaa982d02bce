import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { z } from 'zod'
import { addEndpoint } from './endpoint.ts'
import type { ErrorWire } from './http-error.ts'

/** What the OpenAPI document says besides the endpoints, which it takes from their declarations. */
export type OpenApiOptions = {
  readonly title: string
  readonly version: string
  readonly description: string
  /** The media types of request and response bodies. */
  readonly mediaTypes: readonly string[]
  /** The body of every error. */
  readonly error: z.ZodType
  /** How errors are returned, by the code that the program gives them. */
  readonly errorCodes: Readonly<Record<string, ErrorWire>>
}

type JsonSchema = Readonly<Record<string, unknown>>
type Components = Record<string, JsonSchema>

/** Adds `/openapi.json`, which describes the endpoints that are added afterwards. The first request creates the document. */
export async function addOpenApi(app: FastifyInstance, options: OpenApiOptions): Promise<void> {
  const { title, version, description } = options
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, version, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
      components: {
        securitySchemes: {
          basic: { type: 'http', scheme: 'basic', description: 'With authentication.method=BASIC.' },
          bearer: { type: 'http', scheme: 'bearer', description: 'With authentication.method=BEARER.' },
        },
      },
      security: [{}, { basic: [] }, { bearer: [] }],
    },
    convertConstToEnum: false,
    transform: ({ schema, url, route, ...document }) => ({
      url,
      schema:
        schema?.hide || !('openapiObject' in document)
          ? schema
          : toJsonSchemas(
              schema,
              { url, errors: route.config?.errors },
              options,
              (document.openapiObject.components?.schemas ?? {}) as Components,
            ),
    }),
  })
  addEndpoint(app, {
    method: 'GET',
    url: '/openapi.json',
    summary: 'Returns this document',
    permission: 'authenticated',
    response: { 200: z.record(z.string(), z.unknown()) },
    handler: async () => ({ ...app.swagger() }),
  })
}

function toJsonSchemas(
  { summary = '', params, querystring, body, response }: FastifySchema,
  { url, errors = [] }: { readonly url: string; readonly errors?: readonly string[] | undefined },
  { mediaTypes, error, errorCodes }: OpenApiOptions,
  components: Components,
): FastifySchema {
  const toJson = (schema: unknown, io: 'input' | 'output') => toJsonSchema(schema as z.ZodType, io, components)
  const inPath = { ...pathSchemas(url), ...(params ? propertiesOf(toJson(params, 'input')) : {}) }
  const answers = Object.entries(response as Readonly<Record<string, z.ZodType>>).map(([status, schema]) => {
    if (schema instanceof z.ZodUndefined) return [status, { type: 'null', description: 'Success.' }]
    const { mediaType, ...json } = toJson(schema, 'output')
    return [status, responseOf('Success.', typeof mediaType === 'string' ? [mediaType] : mediaTypes, json)]
  })
  return {
    summary,
    consumes: [...mediaTypes],
    ...(Object.keys(inPath).length === 0 ? {} : { params: { type: 'object', properties: inPath } }),
    // All are optional: a lenient schema accepts a missing value, which Zod takes for a required one.
    ...(querystring ? { querystring: { type: 'object', properties: propertiesOf(toJson(querystring, 'input')) } } : {}),
    ...(body ? { body: toJson(body, 'input') } : {}),
    response: {
      ...Object.fromEntries(answers),
      ...errorResponses(errors, errorCodes, (description, codes) =>
        responseOf(description, mediaTypes, {
          allOf: [toJson(error, 'output'), { properties: { error_code: { enum: codes } } }],
        }),
      ),
      default: responseOf('Another error.', mediaTypes, toJson(error, 'output')),
    },
  }
}

/** The responses of errors, by status: one status can stand for several errors. */
function errorResponses(
  errors: readonly string[],
  errorCodes: OpenApiOptions['errorCodes'],
  toResponse: (description: string, codes: readonly number[]) => object,
): Readonly<Record<string, object>> {
  const wires = errors.map((name) => {
    const wire = errorCodes[name]
    if (wire === undefined) throw new Error(`there is no error '${name}'`)
    return { ...wire, meaning: name.replaceAll('_', ' ') }
  })
  return Object.fromEntries(
    [...Map.groupBy(wires, ({ status }) => status)].map(([status, same]) => {
      const codes = [...new Set(same.map(({ errorCode }) => errorCode))]
      const description = same.map(({ errorCode, meaning }) => `${errorCode}: ${meaning}`).join(', ')
      return [status, toResponse(description, codes)]
    }),
  )
}

function responseOf(description: string, mediaTypes: readonly string[], schema: JsonSchema): object {
  return { description, content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])) }
}

/** Schemas with an `id` become components of the document, and references to them. */
function toJsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Components,
): JsonSchema & { readonly mediaType?: unknown } {
  const written = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any' }))
  const { $schema: _, $defs = {}, ...json } = JSON.parse(written.replaceAll('#/$defs/', '#/components/schemas/'))
  Object.assign(components, $defs)
  return json
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  return (schema['properties'] ?? {}) as JsonSchema
}

/** The parameters of a path are strings, unless the endpoint declares them. */
function pathSchemas(url: string): JsonSchema {
  return Object.fromEntries([...url.matchAll(/\/:(\w+)/g)].map(([, name = '']) => [name, { type: 'string' }]))
}
