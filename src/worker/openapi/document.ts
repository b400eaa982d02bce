import { ENTITIES, entity, type JsonSchema, text } from './entities.ts'
import { OPERATIONS, type Operation, PARAMETERS } from './operations.ts'

const JSON_TYPE = 'application/json'
const LEVEL: JsonSchema = { type: 'object', properties: { level: text }, required: ['level'] }

/** Everything a worker answers, as OpenAPI 3.1. */
export function openApiDocument(version: string): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [line, operation] of Object.entries(OPERATIONS)) {
    const [method = '', path = ''] = line.split(' ')
    const methods = paths[path] ?? {}
    methods[method.toLowerCase()] = operationObject(path, operation)
    paths[path] = methods
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir connector worker',
      version,
      description: 'A path may end with a slash. Any worker of a group answers for all of it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      schemas: { ...ENTITIES, Level: LEVEL },
      securitySchemes: { basic: { type: 'http', scheme: 'basic', description: 'With authentication.method=BASIC.' } },
    },
    security: [{}, { basic: [] }],
  }
}

function operationObject(path: string, { summary, query = [], body, answers, mediaType }: Operation): JsonSchema {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'task' ? { type: 'integer' } : text,
  }))
  const inQuery = query.map((name) => ({ name, in: 'query', ...PARAMETERS[name] }))
  const good = Object.entries(answers).map(([status, schema]) => [
    status,
    schema ? { description: 'Done.', content: { [mediaType ?? JSON_TYPE]: { schema } } } : { description: 'Done.' },
  ])
  return {
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body ? { requestBody: { required: true, content: { [JSON_TYPE]: { schema: entity(body) } } } } : {}),
    responses: {
      ...Object.fromEntries(good),
      default: { description: 'Refused, and why.', content: { [JSON_TYPE]: { schema: entity('Error') } } },
    },
  }
}
