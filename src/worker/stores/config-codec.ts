import type { RawConfig } from '../../sdk/index.ts'
import { inJavaOrder } from '../model/java-order.ts'

/** The state of a connector that a user requested. */
export type StoredTargetState = 'STARTED' | 'PAUSED' | 'STOPPED'

/** The key by which internal requests prove that they come from a worker of the group. */
export type SessionKey = { readonly key: string; readonly algorithm: string; readonly createdMs: number }

/** A parsed record of the config topic. Null instead of content means that it was deleted. */
export type ConfigRecord =
  | { readonly kind: 'connector'; readonly connector: string; readonly config: RawConfig | null }
  | {
      readonly kind: 'task'
      readonly connector: string
      readonly task: number
      readonly config: RawConfig | null
    }
  | { readonly kind: 'commit'; readonly connector: string; readonly tasks: number | null }
  | { readonly kind: 'target'; readonly connector: string; readonly target: StoredTargetState | null }
  | { readonly kind: 'fencing'; readonly connector: string; readonly tasks: number | null }
  | {
      readonly kind: 'restart'
      readonly connector: string
      readonly includeTasks: boolean
      readonly onlyFailed: boolean
    }
  | { readonly kind: 'session'; readonly session: SessionKey }
  | { readonly kind: 'logger'; readonly logger: string; readonly level: string }

/** Key and value of a record in the config topic, in Kafka Connect's format. A null value is a tombstone. */
export type WrittenRecord = { readonly key: string; readonly value: string | null }

const SESSION_KEY = 'session-key'

export function toConfigRecord(record: ConfigRecord): WrittenRecord {
  switch (record.kind) {
    case 'connector':
      return written(`connector-${record.connector}`, record.config && { properties: record.config })
    case 'task':
      return written(`task-${record.connector}-${record.task}`, record.config && { properties: record.config })
    case 'commit':
      return written(`commit-${record.connector}`, record.tasks === null ? null : { tasks: record.tasks })
    case 'target':
      return written(`target-state-${record.connector}`, record.target && targetValue(record.target))
    case 'fencing':
      return written(`tasks-fencing-${record.connector}`, record.tasks === null ? null : { 'task-count': record.tasks })
    case 'restart':
      return written(`restart-connector-${record.connector}`, {
        'include-tasks': record.includeTasks,
        'only-failed': record.onlyFailed,
      })
    case 'session': {
      const { key, algorithm, createdMs } = record.session
      return written(SESSION_KEY, { key, algorithm, 'creation-timestamp': createdMs })
    }
    case 'logger':
      return written(`logger-cluster-${record.logger}`, { level: record.level })
  }
}

/** Undefined for a record of another kind or with unusable content. Throws when the value is not JSON. */
export function parseConfigRecord(key: string, value: string | null): ConfigRecord | undefined {
  const json = value === null ? null : asObject(JSON.parse(value))
  if (json === undefined) return undefined
  const found = PARSERS.find(([prefix]) => key.startsWith(prefix))
  return found?.[1](key.slice(found[0].length), json)
}

type Json = Readonly<Record<string, unknown>>
type Parser = (rest: string, json: Json | null) => ConfigRecord | undefined

/** In the order in which Kafka Connect tests the prefixes. No prefix begins with an earlier one. */
const PARSERS: readonly (readonly [prefix: string, parse: Parser])[] = [
  ['target-state-', parseTarget],
  ['connector-', (connector, json) => withConfig(json, (config) => ({ kind: 'connector', connector, config }))],
  ['task-', parseTask],
  ['commit-', (connector, json) => withCount(json, 'tasks', (tasks) => ({ kind: 'commit', connector, tasks }))],
  ['restart-connector-', parseRestart],
  [
    'tasks-fencing-',
    (connector, json) => withCount(json, 'task-count', (tasks) => ({ kind: 'fencing', connector, tasks })),
  ],
  [SESSION_KEY, parseSession],
  ['logger-cluster-', parseLogger],
]

function parseTarget(connector: string, json: Json | null): ConfigRecord | undefined {
  if (json === null) return { kind: 'target', connector, target: null }
  const state = json['state.v2'] ?? json['state']
  const known = state === 'STARTED' || state === 'PAUSED' || state === 'STOPPED'
  return known ? { kind: 'target', connector, target: state } : undefined
}

function parseRestart(connector: string, json: Json | null): ConfigRecord | undefined {
  if (json === null) return undefined
  const { 'include-tasks': includeTasks, 'only-failed': onlyFailed } = json
  return { kind: 'restart', connector, includeTasks: includeTasks === true, onlyFailed: onlyFailed === true }
}

function parseLogger(logger: string, json: Json | null): ConfigRecord | undefined {
  const level = json?.['level']
  return typeof level === 'string' ? { kind: 'logger', logger, level } : undefined
}

function parseTask(rest: string, json: Json | null): ConfigRecord | undefined {
  const dash = rest.lastIndexOf('-')
  const number = rest.slice(dash + 1)
  if (dash < 0 || !/^\d+$/.test(number)) return undefined
  const connector = rest.slice(0, dash)
  return withConfig(json, (config) => ({ kind: 'task', connector, task: Number(number), config }))
}

function parseSession(rest: string, json: Json | null): ConfigRecord | undefined {
  const { key, algorithm, 'creation-timestamp': createdMs } = json ?? {}
  if (rest !== '' || typeof key !== 'string' || typeof algorithm !== 'string') return undefined
  return Number.isInteger(createdMs)
    ? { kind: 'session', session: { key, algorithm, createdMs: createdMs as number } }
    : undefined
}

function withConfig(json: Json | null, make: (config: RawConfig | null) => ConfigRecord): ConfigRecord | undefined {
  if (json === null) return make(null)
  const properties = asObject(json['properties'])
  if (properties === undefined) return undefined
  const texts = Object.entries(properties).map(([key, value]) => [key, value === null ? '' : String(value)])
  return make(inJavaOrder(Object.fromEntries(texts) as RawConfig))
}

/** A larger number of tasks can only be damage. The state, the leader and the cleanup have an entry for each task. */
const TASKS_MAX = 1_000_000

function withCount(
  json: Json | null,
  member: string,
  make: (count: number | null) => ConfigRecord,
): ConfigRecord | undefined {
  if (json === null) return make(null)
  const count = json[member]
  return Number.isInteger(count) && (count as number) >= 0 && (count as number) <= TASKS_MAX
    ? make(count as number)
    : undefined
}

/** Workers before Kafka Connect 3.5 read only `state` and do not know STOPPED, so they pause the connector. */
function targetValue(target: StoredTargetState): Json {
  return { state: target === 'STOPPED' ? 'PAUSED' : target, 'state.v2': target }
}

function written(key: string, value: object | null): WrittenRecord {
  return { key, value: value && JSON.stringify(value) }
}

function asObject(json: unknown): Json | undefined {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Json) : undefined
}
