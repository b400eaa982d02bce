import { arrayOf, type JsonSchema, mapOf, schemaRef, stringSchema } from '../../http/openapi-document.ts'

export type WorkerOperation = {
  readonly summary: string
  readonly query?: readonly (keyof typeof WORKER_PARAMETERS)[]
  readonly body?: 'NewConnector' | 'WrittenConfig' | 'Offsets' | 'Level'
  /** Schemas by status; null means an empty body. Error responses are omitted, because all operations share them. */
  readonly responses: Readonly<Record<number, JsonSchema | null>>
  /** Default: JSON. */
  readonly mediaType?: string
}

const flag = (value: boolean): JsonSchema => ({ type: 'boolean', default: value })

/** Query parameters by name. */
export const WORKER_PARAMETERS = {
  connectorsOnly: {
    description: 'Whether to omit converters, transformations, predicates and config providers.',
    schema: flag(true),
  },
  expand: { description: 'Details to return for each connector.', schema: arrayOf({ enum: ['info', 'status'] }) },
  includeTasks: { description: 'Whether to restart the tasks of the connector as well.', schema: flag(false) },
  onlyFailed: { description: 'Whether to restart only instances that have failed.', schema: flag(false) },
  scope: {
    description: '`worker`: this worker only. `cluster`: all workers of the group.',
    schema: { enum: ['worker', 'cluster'] },
  },
  version: { description: 'Version of the plugin. Default: the latest version.', schema: stringSchema },
} as const

const noContent = (status: number): Pick<WorkerOperation, 'responses'> => ({ responses: { [status]: null } })
const ok = (schema: JsonSchema): Pick<WorkerOperation, 'responses'> => ({ responses: { 200: schema } })
const plainText = { mediaType: 'text/plain', ...ok(stringSchema) }

/** The operations of the REST API, without the internal ones between workers. */
export const WORKER_OPERATIONS: Readonly<Record<string, WorkerOperation>> = {
  'GET /': { summary: 'Returns the version of the worker and the id of its Kafka cluster', ...ok(schemaRef('Worker')) },
  'GET /health': {
    summary: 'Reports whether the worker is ready to serve requests',
    responses: { 200: schemaRef('Health'), 500: schemaRef('Health'), 503: schemaRef('Health') },
  },
  'GET /connectors': {
    summary: 'Lists the connectors: their names, or their details with `expand`',
    query: ['expand'],
    ...ok({ anyOf: [arrayOf(stringSchema), schemaRef('ExpandedConnectors')] }),
  },
  'POST /connectors': {
    summary: 'Creates a connector',
    body: 'NewConnector',
    responses: { 201: schemaRef('Connector') },
  },
  'GET /connectors/{name}': {
    summary: 'Returns the configuration and tasks of a connector',
    ...ok(schemaRef('Connector')),
  },
  'DELETE /connectors/{name}': { summary: 'Deletes a connector. Its offsets are kept', ...noContent(204) },
  'GET /connectors/{name}/config': { summary: 'Returns the configuration of a connector', ...ok(schemaRef('Config')) },
  'PUT /connectors/{name}/config': {
    summary: 'Creates a connector, or replaces its configuration',
    body: 'WrittenConfig',
    responses: { 200: schemaRef('Connector'), 201: schemaRef('Connector') },
  },
  'PATCH /connectors/{name}/config': {
    summary: 'Changes keys of the configuration of a connector. Null removes a key',
    body: 'WrittenConfig',
    ...ok(schemaRef('Connector')),
  },
  'GET /connectors/{name}/status': {
    summary: 'Returns the states of a connector and its tasks',
    ...ok(schemaRef('ConnectorStatus')),
  },
  'GET /connectors/{name}/tasks': {
    summary: 'Lists the tasks of a connector with their configurations',
    ...ok(arrayOf(schemaRef('Task'))),
  },
  'GET /connectors/{name}/tasks/{task}/status': {
    summary: 'Returns the state of a task',
    ...ok(schemaRef('TaskStatus')),
  },
  'POST /connectors/{name}/tasks/{task}/restart': { summary: 'Restarts a task', ...noContent(204) },
  'PUT /connectors/{name}/pause': { summary: 'Pauses a connector and its tasks', ...noContent(202) },
  'PUT /connectors/{name}/resume': { summary: 'Resumes a paused or stopped connector', ...noContent(202) },
  'PUT /connectors/{name}/stop': {
    summary: 'Stops a connector: ends its tasks and keeps its configuration and offsets',
    ...noContent(204),
  },
  'POST /connectors/{name}/restart': {
    summary: 'Restarts a connector',
    query: ['includeTasks', 'onlyFailed'],
    responses: { 202: schemaRef('ConnectorStatus'), 204: null },
  },
  'GET /connectors/{name}/topics': {
    summary: 'Lists the topics that a connector has used',
    ...ok(schemaRef('Topics')),
  },
  'PUT /connectors/{name}/topics/reset': {
    summary: 'Clears the list of topics that a connector has used',
    ...noContent(202),
  },
  'GET /connectors/{name}/offsets': { summary: 'Returns the offsets of a connector', ...ok(schemaRef('Offsets')) },
  'PATCH /connectors/{name}/offsets': {
    summary: 'Changes offsets of a stopped connector. An offset of null resets a partition',
    body: 'Offsets',
    ...ok(schemaRef('Message')),
  },
  'DELETE /connectors/{name}/offsets': {
    summary: 'Resets all offsets of a stopped connector',
    ...ok(schemaRef('Message')),
  },
  'GET /connector-plugins': {
    summary: 'Lists the installed plugins',
    query: ['connectorsOnly'],
    ...ok(arrayOf(schemaRef('Plugin'))),
  },
  'GET /connector-plugins/{plugin}/config': {
    summary: 'Returns the configuration keys of a plugin',
    query: ['version'],
    ...ok(arrayOf(schemaRef('ConfigKey'))),
  },
  'PUT /connector-plugins/{plugin}/config/validate': {
    summary: 'Validates a connector configuration. Returns the errors of each key',
    body: 'WrittenConfig',
    ...ok(schemaRef('Validation')),
  },
  'GET /admin/loggers': { summary: 'Lists the loggers with their levels', ...ok(mapOf(schemaRef('LoggerLevel'))) },
  'GET /admin/loggers/{logger}': { summary: 'Returns the level of a logger', ...ok(schemaRef('LoggerLevel')) },
  'PUT /admin/loggers/{logger}': {
    summary: 'Sets the level of a logger and of all loggers below it. Returns the names of the changed loggers',
    query: ['scope'],
    body: 'Level',
    responses: { 200: arrayOf(stringSchema), 204: null },
  },
  'GET /openapi.json': { summary: 'Returns this document', ...ok({ type: 'object' }) },
  'GET /metrics': { summary: 'Returns the metrics in the text format of Prometheus', ...plainText },
  'GET /healthz': { summary: 'Liveness: the process responds', ...plainText },
  'GET /readyz': { summary: 'Readiness: the worker is a member of its group', ...plainText },
}
