import { MEDIA_TYPES } from '../setting-keys.ts'
import { ENTITIES, entity, type JsonSchema } from './entities.ts'
import { type Operation, PARAMETERS, RESOURCE_OPERATIONS, SERVER_OPERATIONS } from './operations.ts'

/** Everything the registry answers, as OpenAPI 3.1. */
export function openApiDocument(version: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [line, operation] of allOperations()) {
    const [method = '', path = ''] = line.split(' ')
    const methods = paths[path] ?? {}
    methods[method.toLowerCase()] = operationObject(path, operation)
    paths[path] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir schema registry',
      version,
      description: 'Every path of a resource also stands under /contexts/{context}. A path may end with a slash.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: ENTITIES,
      securitySchemes: { basic: { type: 'http', scheme: 'basic', description: 'With authentication.method=BASIC.' } },
    },
    security: [{}, { basic: [] }],
  }
}

function allOperations(): readonly (readonly [line: string, operation: Operation])[] {
  const resources = Object.entries(RESOURCE_OPERATIONS)
  const within = resources.map(([line, operation]) => [line.replace(' ', ' /contexts/{context}'), operation] as const)
  return [...Object.entries(SERVER_OPERATIONS), ...resources, ...within]
}

function operationObject(path: string, operation: Operation): JsonSchema {
  const { summary, query = [], body, answer, mediaType } = operation
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const inQuery = query.map((name) => ({ name, in: 'query', ...PARAMETERS[name] }))
  const types = mediaType === undefined ? MEDIA_TYPES : [mediaType]
  const good = answer ? { description: 'Done.', content: contentOf(types, answer) } : { description: 'Done.' }
  return {
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body ? { requestBody: { required: true, content: contentOf(MEDIA_TYPES, entity(body)) } } : {}),
    responses: {
      [answer ? '200' : '204']: good,
      default: { description: 'Refused, and why.', content: contentOf(MEDIA_TYPES, entity('Error')) },
    },
  }
}

function contentOf(types: readonly string[], schema: JsonSchema): JsonSchema {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}
