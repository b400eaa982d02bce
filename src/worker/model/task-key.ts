import type { TaskId } from '../../clients/worker-client.ts'

/** The name of a task in messages and maps: `CONNECTOR-NUMBER`, as Kafka Connect's `ConnectorTaskId` prints it. */
export function taskKey({ connector, task }: TaskId): string {
  return `${connector}-${task}`
}

/** The inverse of `taskKey`. Connector names may contain hyphens; task numbers do not. */
export function parseTaskKey(key: string): TaskId {
  const hyphen = key.lastIndexOf('-')
  return { connector: key.slice(0, hyphen), task: Number(key.slice(hyphen + 1)) }
}
