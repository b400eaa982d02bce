import {
  buildOpenApiDocument,
  integerSchema,
  type JsonSchema,
  pathParameters,
  schemaRef,
  stringSchema,
} from '../../http/openapi-document.ts'
import { WORKER_ENTITIES } from './entities.ts'
import { WORKER_OPERATIONS, WORKER_PARAMETERS, type WorkerOperation } from './operations.ts'

const JSON_TYPE = 'application/json'
const LEVEL: JsonSchema = { type: 'object', properties: { level: stringSchema }, required: ['level'] }

/** The OpenAPI 3.1 document of the worker's REST API. */
export function workerOpenApiDocument(version: string): JsonSchema {
  const description =
    'Paths may end with a slash. Every worker of a group serves the whole API: it forwards requests that the leader must process.'
  const operations = Object.entries(WORKER_OPERATIONS).map(
    ([route, operation]) => [route, operationObject(route, operation)] as const,
  )
  return buildOpenApiDocument({ title: 'Weir connector worker', version, description }, operations, {
    ...WORKER_ENTITIES,
    Level: LEVEL,
  })
}

function operationObject(
  route: string,
  { summary, query = [], body, responses, mediaType }: WorkerOperation,
): JsonSchema {
  const pathParameterObjects = pathParameters(route, (name) => (name === 'task' ? integerSchema : stringSchema))
  const queryParameters = query.map((name) => ({ name, in: 'query', ...WORKER_PARAMETERS[name] }))
  const successful = Object.entries(responses).map(([status, schema]) => [
    status,
    schema
      ? { description: 'Success.', content: { [mediaType ?? JSON_TYPE]: { schema } } }
      : { description: 'Success.' },
  ])
  return {
    summary,
    parameters: [...pathParameterObjects, ...queryParameters],
    ...(body ? { requestBody: { required: true, content: { [JSON_TYPE]: { schema: schemaRef(body) } } } } : {}),
    responses: {
      ...Object.fromEntries(successful),
      default: {
        description: 'An error, with its code and message.',
        content: { [JSON_TYPE]: { schema: schemaRef('Error') } },
      },
    },
  }
}
