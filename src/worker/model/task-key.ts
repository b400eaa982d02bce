import type { TaskId } from '../../clients/worker.ts'

/** The name of a task in messages and maps: `CONNECTOR-NUMBER`, as Kafka Connect's `ConnectorTaskId` prints it. */
export function taskKey({ connector, task }: TaskId): string {
  return `${connector}-${task}`
}
