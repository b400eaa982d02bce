import { z } from 'zod'
import { CONNECTOR_STATES } from '../../common/state-glossary.ts'

// The bodies of responses, and schemas of request bodies that the parsers of `request-bodies.ts` check.

const integer = z.number().int()
const type = z.string().meta({ enum: ['source', 'sink', 'unknown'] })
const config = z.record(z.string(), z.string()).meta({ id: 'Config' })
const instance = {
  state: z.string().meta({
    enum: Object.keys(CONNECTOR_STATES),
  }),
  worker_id: z.string().describe('Host and port of the worker that runs the connector or task.'),
  version: z.string().describe('Version of the connector plugin.').optional(),
  trace: z.string().describe('Error and its causes, if the state is FAILED.').optional(),
}
const taskId = z.object({ connector: z.string(), task: integer }).meta({ id: 'TaskId' })
const offsetPart = z.record(z.string(), z.unknown()).meta({
  description:
    'For a sink, a partition has kafka_topic and kafka_partition, an offset has kafka_offset. For a source, its own members.',
})

export { config as connectorConfig }
export const workerError = z.object({ error_code: integer, message: z.string() }).meta({ id: 'Error' })
export const message = z.object({ message: z.string() }).meta({ id: 'Message' })
export const worker = z
  .object({ version: z.string(), commit: z.string(), kafka_cluster_id: z.string() })
  .meta({ id: 'Worker' })
export const health = z
  .object({ status: z.enum(['healthy', 'starting', 'unhealthy']), message: z.string() })
  .meta({ id: 'Health' })
export const task = z.object({ id: taskId, config }).meta({ id: 'Task' })
export const connector = z.object({ name: z.string(), config, tasks: z.array(taskId), type }).meta({ id: 'Connector' })
export const taskStatus = z.object({ id: integer, ...instance }).meta({ id: 'TaskStatus' })
export const connectorState = z
  .object({ name: z.string(), connector: z.object(instance), tasks: z.array(taskStatus), type })
  .meta({ id: 'ConnectorStatus' })
export const expandedConnectors = z
  .record(z.string(), z.object({ info: connector.optional(), status: connectorState.optional() }))
  .meta({ id: 'ExpandedConnectors' })
export const topics = z.record(z.string(), z.object({ topics: z.array(z.string()) })).meta({ id: 'Topics' })
export const offsets = z
  .object({
    offsets: z.array(z.object({ partition: offsetPart.nullable(), offset: offsetPart.nullable().optional() })),
  })
  .meta({ id: 'Offsets' })
export const plugin = z
  .object({ class: z.string(), type: z.string(), version: z.string().optional() })
  .meta({ id: 'Plugin' })
export const configKey = z
  .object({
    name: z.string(),
    type: z.string(),
    required: z.boolean(),
    default_value: z.string().nullable(),
    importance: z.string(),
    documentation: z.string(),
    group: z.string().nullable(),
    order_in_group: integer,
    width: z.string(),
    display_name: z.string(),
    dependents: z.array(z.string()),
  })
  .meta({ id: 'ConfigKey' })
export const validation = z
  .object({
    name: z.string(),
    error_count: integer,
    groups: z.array(z.string()),
    configs: z.array(
      z.object({
        definition: configKey.nullable(),
        value: z.object({
          name: z.string(),
          value: z.string().nullable(),
          recommended_values: z.array(z.string()),
          errors: z.array(z.string()),
          visible: z.boolean(),
        }),
      }),
    ),
    warnings: z.array(z.string()).optional(),
  })
  .meta({ id: 'Validation' })
export const loggerLevel = z
  .object({ level: z.string(), last_modified: integer.nullable() })
  .meta({ id: 'LoggerLevel' })
