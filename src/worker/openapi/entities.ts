import { entity, integer, type JsonSchema, list, mapOf, orNull, text } from '../../http/openapi.ts'

/** These members and no others. */
export function answer(
  members: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(members),
): JsonSchema {
  return { type: 'object', properties: members, required, additionalProperties: false }
}

const written: JsonSchema = {
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description:
    'Numbers and booleans count as what they look like. Null removes a key from a patch and is refused elsewhere.',
}
const type = { enum: ['source', 'sink', 'unknown'] }
const status = {
  state: { enum: ['UNASSIGNED', 'RUNNING', 'PAUSED', 'FAILED', 'RESTARTING', 'STOPPED', 'DESTROYED'] },
  worker_id: { ...text, description: 'Host and port of the worker that has it.' },
  version: { ...text, description: 'Of the plugin.' },
  trace: { ...text, description: 'Why it failed.' },
}
const always = ['state', 'worker_id']
const part = { type: 'object', description: 'For a sink kafka_topic and kafka_partition, or kafka_offset.' }
const offsets = list(answer({ partition: orNull(part), offset: orNull(part) }, ['partition']))

/** Everything that bodies consist of. */
export const ENTITIES: Readonly<Record<string, JsonSchema>> = {
  Error: answer({ error_code: integer, message: text }),
  Message: answer({ message: text }),
  Worker: answer({ version: text, commit: text, kafka_cluster_id: text }),
  Health: answer({ status: { enum: ['healthy', 'starting', 'unhealthy'] }, message: text }),
  Config: mapOf(text),
  WrittenConfig: written,
  NewConnector: {
    type: 'object',
    properties: { name: text, config: written, initial_state: { enum: ['RUNNING', 'PAUSED', 'STOPPED', null] } },
    required: ['name', 'config'],
    additionalProperties: false,
  },
  TaskId: answer({ connector: text, task: integer }),
  Task: answer({ id: entity('TaskId'), config: entity('Config') }),
  Connector: answer({ name: text, config: entity('Config'), tasks: list(entity('TaskId')), type }),
  TaskStatus: answer({ id: integer, ...status }, ['id', ...always]),
  ConnectorStatus: answer({
    name: text,
    connector: answer(status, always),
    tasks: list(entity('TaskStatus')),
    type,
  }),
  ExpandedConnectors: mapOf(answer({ info: entity('Connector'), status: entity('ConnectorStatus') }, [])),
  Topics: mapOf(answer({ topics: list(text) })),
  Offsets: answer({ offsets }),
  Plugin: answer({ class: text, type: text, version: text }, ['class', 'type']),
  ConfigKey: answer({
    name: text,
    type: text,
    required: { type: 'boolean' },
    default_value: orNull(text),
    importance: text,
    documentation: text,
    group: orNull(text),
    order_in_group: integer,
    width: text,
    display_name: text,
    dependents: list(text),
  }),
  Validation: answer({
    name: text,
    error_count: integer,
    groups: list(text),
    configs: list(
      answer({
        definition: orNull(entity('ConfigKey')),
        value: answer({
          name: text,
          value: orNull(text),
          recommended_values: list(text),
          errors: list(text),
          visible: { type: 'boolean' },
        }),
      }),
    ),
  }),
  LoggerLevel: answer({ level: text, last_modified: orNull(integer) }),
}
