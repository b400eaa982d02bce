import type { RunState } from '../../common/state-glossary.ts'

/** The status of a connector or task, as its worker writes it. The member order is that of the stored JSON. */
export type StoredStatus = {
  readonly state: RunState
  readonly trace: string | null
  /** `host:port` of the worker that wrote it. */
  readonly worker_id: string
  readonly generation: number
  /** Version of the plugin. Workers before Kafka Connect 4.1 do not write it. */
  readonly version?: string | null
}

/** A topic that a task of a connector has used. */
export type ActiveTopic = {
  readonly name: string
  readonly connector: string
  readonly task: number
  readonly discoverTimestamp: number
}

export type StatusKey =
  | { readonly kind: 'connector'; readonly connector: string }
  | { readonly kind: 'task'; readonly connector: string; readonly task: number }
  | { readonly kind: 'topic'; readonly connector: string; readonly topic: string }

/** What a status is about. */
export type StatusSubject = Extract<StatusKey, { kind: 'connector' | 'task' }>

/** A parsed record of the status topic. A null status means that it was deleted. */
export type StatusRecord =
  | { readonly kind: 'connector'; readonly connector: string; readonly status: StoredStatus | null }
  | { readonly kind: 'task'; readonly connector: string; readonly task: number; readonly status: StoredStatus | null }
  | { readonly kind: 'topic'; readonly connector: string; readonly topic: string; readonly isActive: boolean }

export function toStatusKey(key: StatusKey): string {
  switch (key.kind) {
    case 'connector':
      return `status-connector-${key.connector}`
    case 'task':
      return `status-task-${key.connector}-${key.task}`
    case 'topic':
      return `status-topic-${key.topic}:connector-${key.connector}`
  }
}

/** Undefined for a key of another kind. */
export function parseStatusKey(key: string): StatusKey | undefined {
  const connector = after(key, 'status-connector-')
  if (connector !== undefined) return { kind: 'connector', connector }
  const task = /^status-task-(.+)-(\d+)$/s.exec(key)
  if (task) return { kind: 'task', connector: task[1] as string, task: Number(task[2]) }
  const topic = /^status-topic-([^:]+):connector-(.+)$/s.exec(key)
  return topic ? { kind: 'topic', topic: topic[1] as string, connector: topic[2] as string } : undefined
}

/** Undefined for a record of another kind. Throws when the value is not a status. */
export function parseStatusRecord(key: string, value: string | null): StatusRecord | undefined {
  const parsed = parseStatusKey(key)
  if (parsed === undefined) return undefined
  if (parsed.kind === 'topic') return { ...parsed, isActive: value !== null }
  return { ...parsed, status: value === null ? null : parseStatusValue(value) }
}

/** The state DESTROYED is written as a tombstone. */
export function toStatusValue({ state, trace, worker_id, generation, version = null }: StoredStatus): string | null {
  return state === 'DESTROYED' ? null : JSON.stringify({ state, trace, worker_id, generation, version })
}

/** Throws when the value is not a status. */
export function parseStatusValue(value: string): StoredStatus {
  const { state, trace, worker_id, generation, version } = JSON.parse(value) as Record<string, unknown>
  if (typeof state !== 'string' || typeof worker_id !== 'string' || !Number.isInteger(generation)) {
    throw new Error(`not a status: ${value.slice(0, 200)}`)
  }
  return {
    state: state as RunState,
    trace: typeof trace === 'string' ? trace : null,
    worker_id,
    generation: generation as number,
    version: typeof version === 'string' ? version : null,
  }
}

export function toTopicValue({ name, connector, task, discoverTimestamp }: ActiveTopic): string {
  return JSON.stringify({ topic: { name, connector, task, discoverTimestamp } })
}

function after(text: string, prefix: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined
}
