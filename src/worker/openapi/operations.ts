import { arrayOf, type JsonSchema, mapOf, schemaRef, stringSchema } from '../../http/openapi.ts'

export type WorkerOperation = {
  readonly summary: string
  readonly query?: readonly (keyof typeof WORKER_PARAMETERS)[]
  readonly body?: 'NewConnector' | 'WrittenConfig' | 'Offsets' | 'Level'
  /** Schemas by status; null means an empty body. Error responses are omitted, because all operations share them. */
  readonly answers: Readonly<Record<number, JsonSchema | null>>
  /** Default: JSON. */
  readonly mediaType?: string
}

const flag = (value: boolean): JsonSchema => ({ type: 'boolean', default: value })

/** Query parameters by name. */
export const WORKER_PARAMETERS = {
  connectorsOnly: { description: 'Converters, transforms and predicates too when it is false.', schema: flag(true) },
  expand: { description: 'What is told of each connector.', schema: arrayOf({ enum: ['info', 'status'] }) },
  includeTasks: { description: 'Its tasks too.', schema: flag(false) },
  onlyFailed: { description: 'Only what has failed.', schema: flag(false) },
  scope: { description: 'On this worker, or on all of the group.', schema: { enum: ['worker', 'cluster'] } },
  version: { description: 'The plugin has to be of this version.', schema: stringSchema },
} as const

const nothing = (status: number): Pick<WorkerOperation, 'answers'> => ({ answers: { [status]: null } })
const good = (schema: JsonSchema): Pick<WorkerOperation, 'answers'> => ({ answers: { 200: schema } })
const plain = { mediaType: 'text/plain', ...good(stringSchema) }

/** The operations of the REST API, without the internal ones between workers. */
export const WORKER_OPERATIONS: Readonly<Record<string, WorkerOperation>> = {
  'GET /': { summary: 'Which worker this is', ...good(schemaRef('Worker')) },
  'GET /health': {
    summary: 'Whether it can do its work',
    answers: { 200: schemaRef('Health'), 500: schemaRef('Health'), 503: schemaRef('Health') },
  },
  'GET /connectors': {
    summary: 'The connectors: their names, or what is told of each',
    query: ['expand'],
    ...good({ anyOf: [arrayOf(stringSchema), schemaRef('ExpandedConnectors')] }),
  },
  'POST /connectors': { summary: 'Makes a connector', body: 'NewConnector', answers: { 201: schemaRef('Connector') } },
  'GET /connectors/{name}': { summary: 'One connector', ...good(schemaRef('Connector')) },
  'DELETE /connectors/{name}': { summary: 'Deletes it; its offsets stay', ...nothing(204) },
  'GET /connectors/{name}/config': { summary: 'Its configuration', ...good(schemaRef('Config')) },
  'PUT /connectors/{name}/config': {
    summary: 'Makes it, or changes its configuration',
    body: 'WrittenConfig',
    answers: { 200: schemaRef('Connector'), 201: schemaRef('Connector') },
  },
  'PATCH /connectors/{name}/config': {
    summary: 'Changes some keys of its configuration',
    body: 'WrittenConfig',
    ...good(schemaRef('Connector')),
  },
  'GET /connectors/{name}/status': { summary: 'How it and its tasks are', ...good(schemaRef('ConnectorStatus')) },
  'GET /connectors/{name}/tasks': {
    summary: 'Its tasks and their configurations',
    ...good(arrayOf(schemaRef('Task'))),
  },
  'GET /connectors/{name}/tasks/{task}/status': { summary: 'How one task is', ...good(schemaRef('TaskStatus')) },
  'POST /connectors/{name}/tasks/{task}/restart': { summary: 'Restarts one task', ...nothing(204) },
  'PUT /connectors/{name}/pause': { summary: 'Lets it and its tasks rest', ...nothing(202) },
  'PUT /connectors/{name}/resume': { summary: 'Lets it go on', ...nothing(202) },
  'PUT /connectors/{name}/stop': { summary: 'Ends its tasks and keeps its configuration', ...nothing(204) },
  'POST /connectors/{name}/restart': {
    summary: 'Restarts it',
    query: ['includeTasks', 'onlyFailed'],
    answers: { 202: schemaRef('ConnectorStatus'), 204: null },
  },
  'GET /connectors/{name}/topics': { summary: 'The topics it used', ...good(schemaRef('Topics')) },
  'PUT /connectors/{name}/topics/reset': { summary: 'Forgets which topics it used', ...nothing(202) },
  'GET /connectors/{name}/offsets': { summary: 'How far it is', ...good(schemaRef('Offsets')) },
  'PATCH /connectors/{name}/offsets': {
    summary: 'Moves it, while it is stopped; an offset of null forgets a partition',
    body: 'Offsets',
    ...good(schemaRef('Message')),
  },
  'DELETE /connectors/{name}/offsets': {
    summary: 'Lets it begin anew, while it is stopped',
    ...good(schemaRef('Message')),
  },
  'GET /connector-plugins': {
    summary: 'What a connector can be made of',
    query: ['connectorsOnly'],
    ...good(arrayOf(schemaRef('Plugin'))),
  },
  'GET /connector-plugins/{plugin}/config': {
    summary: 'The keys of a plugin',
    query: ['version'],
    ...good(arrayOf(schemaRef('ConfigKey'))),
  },
  'PUT /connector-plugins/{plugin}/config/validate': {
    summary: 'What is wrong with a configuration, key by key',
    body: 'WrittenConfig',
    ...good(schemaRef('Validation')),
  },
  'GET /admin/loggers': { summary: 'The loggers and their levels', ...good(mapOf(schemaRef('LoggerLevel'))) },
  'GET /admin/loggers/{logger}': { summary: 'The level of one logger', ...good(schemaRef('LoggerLevel')) },
  'PUT /admin/loggers/{logger}': {
    summary: 'Sets the level of a logger and of all loggers below it; answers those that were changed',
    query: ['scope'],
    body: 'Level',
    answers: { 200: arrayOf(stringSchema), 204: null },
  },
  'GET /openapi.json': { summary: 'This document', ...good({ type: 'object' }) },
  'GET /metrics': { summary: 'Metrics for Prometheus', ...plain },
  'GET /healthz': { summary: 'Whether the process lives', ...plain },
  'GET /readyz': { summary: 'Whether the worker is a member of its group', ...plain },
}
