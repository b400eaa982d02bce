import {
  arrayOf,
  integerSchema,
  type JsonSchema,
  mapOf,
  nullable,
  schemaRef,
  stringSchema,
} from '../../http/openapi-document.ts'

/** An object schema without additional members. */
export function workerResponse(
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(members),
): JsonSchema {
  return { type: 'object', properties: members, required, additionalProperties: false }
}

const writtenConfig: JsonSchema = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description:
    'Numbers and booleans are converted to strings. In a PATCH, null removes a key; elsewhere null is rejected.',
}
const type = { enum: ['source', 'sink', 'unknown'] }
const status = {
  state: { enum: ['UNASSIGNED', 'RUNNING', 'PAUSED', 'FAILED', 'RESTARTING', 'STOPPED', 'DESTROYED'] },
  worker_id: { ...stringSchema, description: 'Host and port of the worker that runs the connector or task.' },
  version: { ...stringSchema, description: 'Version of the connector plugin.' },
  trace: { ...stringSchema, description: 'Error and its causes, if the state is FAILED.' },
}
const requiredMembers = ['state', 'worker_id']
const offsetPart = {
  type: 'object',
  description:
    'For a sink, a partition has kafka_topic and kafka_partition, an offset has kafka_offset. For a source, its own members.',
}
const offsets = arrayOf(
  workerResponse({ partition: nullable(offsetPart), offset: nullable(offsetPart) }, ['partition']),
)

/** The schemas of request and response bodies. */
export const WORKER_ENTITIES: Readonly<Record<string, JsonSchema>> = {
  Error: workerResponse({ error_code: integerSchema, message: stringSchema }),
  Message: workerResponse({ message: stringSchema }),
  Worker: workerResponse({ version: stringSchema, commit: stringSchema, kafka_cluster_id: stringSchema }),
  Health: workerResponse({ status: { enum: ['healthy', 'starting', 'unhealthy'] }, message: stringSchema }),
  Config: mapOf(stringSchema),
  WrittenConfig: writtenConfig,
  NewConnector: {
    type: 'object',
    properties: {
      name: stringSchema,
      config: writtenConfig,
      initial_state: { enum: ['RUNNING', 'PAUSED', 'STOPPED', null] },
    },
    required: ['name', 'config'],
    additionalProperties: false,
  },
  TaskId: workerResponse({ connector: stringSchema, task: integerSchema }),
  Task: workerResponse({ id: schemaRef('TaskId'), config: schemaRef('Config') }),
  Connector: workerResponse({
    name: stringSchema,
    config: schemaRef('Config'),
    tasks: arrayOf(schemaRef('TaskId')),
    type,
  }),
  TaskStatus: workerResponse({ id: integerSchema, ...status }, ['id', ...requiredMembers]),
  ConnectorStatus: workerResponse({
    name: stringSchema,
    connector: workerResponse(status, requiredMembers),
    tasks: arrayOf(schemaRef('TaskStatus')),
    type,
  }),
  ExpandedConnectors: mapOf(workerResponse({ info: schemaRef('Connector'), status: schemaRef('ConnectorStatus') }, [])),
  Topics: mapOf(workerResponse({ topics: arrayOf(stringSchema) })),
  Offsets: workerResponse({ offsets }),
  Plugin: workerResponse({ class: stringSchema, type: stringSchema, version: stringSchema }, ['class', 'type']),
  ConfigKey: workerResponse({
    name: stringSchema,
    type: stringSchema,
    required: { type: 'boolean' },
    default_value: nullable(stringSchema),
    importance: stringSchema,
    documentation: stringSchema,
    group: nullable(stringSchema),
    order_in_group: integerSchema,
    width: stringSchema,
    display_name: stringSchema,
    dependents: arrayOf(stringSchema),
  }),
  Validation: workerResponse({
    name: stringSchema,
    error_count: integerSchema,
    groups: arrayOf(stringSchema),
    configs: arrayOf(
      workerResponse({
        definition: nullable(schemaRef('ConfigKey')),
        value: workerResponse({
          name: stringSchema,
          value: nullable(stringSchema),
          recommended_values: arrayOf(stringSchema),
          errors: arrayOf(stringSchema),
          visible: { type: 'boolean' },
        }),
      }),
    ),
  }),
  LoggerLevel: workerResponse({ level: stringSchema, last_modified: nullable(integerSchema) }),
}
