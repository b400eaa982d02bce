import {
  buildOpenApiDocument,
  integerSchema,
  type JsonSchema,
  pathParameters,
  schemaRef,
  stringSchema,
} from '../../http/openapi.ts'
import { WORKER_ENTITIES } from './entities.ts'
import { WORKER_OPERATIONS, WORKER_PARAMETERS, type WorkerOperation } from './operations.ts'

const JSON_TYPE = 'application/json'
const LEVEL: JsonSchema = { type: 'object', properties: { level: stringSchema }, required: ['level'] }

/** The OpenAPI 3.1 document of the worker's REST API. */
export function workerOpenApiDocument(version: string): JsonSchema {
  const description = 'A path may end with a slash. Any worker of a group answers for all of it.'
  const operations = Object.entries(WORKER_OPERATIONS).map(([line, one]) => [line, operationObject(line, one)] as const)
  return buildOpenApiDocument({ title: 'Weir connector worker', version, description }, operations, {
    ...WORKER_ENTITIES,
    Level: LEVEL,
  })
}

function operationObject(line: string, { summary, query = [], body, answers, mediaType }: WorkerOperation): JsonSchema {
  const inPath = pathParameters(line, (name) => (name === 'task' ? integerSchema : stringSchema))
  const inQuery = query.map((name) => ({ name, in: 'query', ...WORKER_PARAMETERS[name] }))
  const good = Object.entries(answers).map(([status, schema]) => [
    status,
    schema ? { description: 'Done.', content: { [mediaType ?? JSON_TYPE]: { schema } } } : { description: 'Done.' },
  ])
  return {
    summary,
    parameters: [...inPath, ...inQuery],
    ...(body ? { requestBody: { required: true, content: { [JSON_TYPE]: { schema: schemaRef(body) } } } } : {}),
    responses: {
      ...Object.fromEntries(good),
      default: { description: 'Refused, and why.', content: { [JSON_TYPE]: { schema: schemaRef('Error') } } },
    },
  }
}
