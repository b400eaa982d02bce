import { buildOpenApiDocument, type JsonSchema, pathParameters, schemaRef } from '../../http/openapi-document.ts'
import { MEDIA_TYPES } from '../setting-keys.ts'
import { ENTITIES } from './entities.ts'
import { KEY_OPERATIONS } from './key-operations.ts'
import { type Operation, PARAMETERS, RESOURCE_OPERATIONS, SERVER_OPERATIONS } from './operations.ts'

/** The OpenAPI 3.1 document of the registry's REST API. */
export function openApiDocument(version: string): JsonSchema {
  const description =
    'The paths of subjects, schemas, config, mode, associations and keys also exist under /contexts/{context}. A path may end with a slash.'
  const operations = allOperations().map(([line, operation]) => [line, operationObject(line, operation)] as const)
  return buildOpenApiDocument({ title: 'Weir schema registry', version, description }, operations, ENTITIES)
}

function allOperations(): readonly (readonly [line: string, operation: Operation])[] {
  const resources = [...Object.entries(RESOURCE_OPERATIONS), ...Object.entries(KEY_OPERATIONS)]
  const within = resources.map(([line, operation]) => [line.replace(' ', ' /contexts/{context}'), operation] as const)
  return [...Object.entries(SERVER_OPERATIONS), ...resources, ...within]
}

function operationObject(line: string, operation: Operation): JsonSchema {
  const { summary, query = [], body, response, mediaType, status = response ? '200' : '204' } = operation
  const inQuery = query.map((name) => ({ name, in: 'query', ...PARAMETERS[name] }))
  const types = mediaType === undefined ? MEDIA_TYPES : [mediaType]
  const content = response ? { content: contentOf(types, response) } : {}
  return {
    summary,
    parameters: [...pathParameters(line), ...inQuery],
    ...(body ? { requestBody: { required: true, content: contentOf(MEDIA_TYPES, schemaRef(body)) } } : {}),
    responses: {
      [status]: { description: 'Success.', ...content },
      default: { description: 'An error.', content: contentOf(MEDIA_TYPES, schemaRef('Error')) },
    },
  }
}

function contentOf(types: readonly string[], schema: JsonSchema): JsonSchema {
  return Object.fromEntries(types.map((type) => [type, { schema }]))
}
