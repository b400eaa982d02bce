import type { SpanOptions } from '../../common/tracing.ts'
import type { TaskSpec } from './task-spec.ts'

/** The span of a batch that a task sends to Kafka, or that it has read and processes, by OpenTelemetry's names for messaging. */
export function batchSpan(
  { connector, task, kind }: Pick<TaskSpec, 'connector' | 'task' | 'kind'>,
  batch: readonly { readonly topic: string }[],
  records: number,
): { readonly name: string; readonly options: SpanOptions } {
  const topics = new Set(batch.map(({ topic }) => topic))
  const [topic] = topics
  const operation = kind === 'source' ? 'send' : 'process'
  const attributes = {
    'messaging.system': 'kafka',
    'messaging.operation.name': operation,
    'messaging.batch.message_count': records,
    // The conventions have no attribute for several topics.
    ...(topics.size === 1 && topic !== undefined && { 'messaging.destination.name': topic }),
    'weir.connector.name': connector,
    'weir.task.id': task,
  }
  return {
    name: `${operation} ${connector}`,
    options: { kind: kind === 'source' ? 'producer' : 'consumer', isRoot: true, attributes },
  }
}
