import type { PartitionOffset, TopicPartition } from '../../broker/broker.ts'
import type { ConnectorOffset, OffsetPart } from '../../clients/worker-client.ts'
import { WorkerError } from '../model/worker-error.ts'

export type SinkOffsetRequest = { readonly set: readonly PartitionOffset[]; readonly forget: readonly TopicPartition[] }

/**
 * Parses a request to alter the offsets of a sink. The last entry of a partition takes precedence. Throws a
 * `WorkerError`.
 */
export function parseSinkOffsets(connector: string, offsets: readonly ConnectorOffset[]): SinkOffsetRequest {
  const last = new Map<string, { readonly at: TopicPartition; readonly offset: number | null }>()
  for (const { partition, offset } of offsets) {
    const at = parsePartition(partition)
    last.set(`${at.topic}-${at.partition}`, { at, offset: parseOffset(connector, offset) })
  }
  const wanted = [...last.values()]
  return {
    set: wanted.flatMap(({ at, offset }) => (offset === null ? [] : [{ ...at, offset }])),
    forget: wanted.filter(({ offset }) => offset === null).map(({ at }) => at),
  }
}

function parsePartition(partition: OffsetPart | null): TopicPartition {
  if (partition === null) throw refused('The partition for a sink connector offset cannot be null or missing')
  if (!('kafka_topic' in partition) || !('kafka_partition' in partition)) {
    throw refused("The partition for a sink connector offset must contain the keys 'kafka_topic' and 'kafka_partition'")
  }
  const { kafka_topic: topic, kafka_partition: number } = partition
  if (topic === null) throw refused('Kafka topic names must be valid strings and may not be null')
  if (number === null) throw refused('Kafka partitions must be valid numbers and may not be null')
  const parsed = wholeNumber(number)
  if (parsed === undefined) {
    throw refused(
      `Failed to parse the following Kafka partition value in the provided offsets: '${number}'. Partition values for sink connectors need to be integers.`,
    )
  }
  return { topic: String(topic), partition: parsed }
}

function parseOffset(connector: string, offset: OffsetPart | null): number | null {
  if (offset === null) return null
  const value = offset['kafka_offset']
  if (value === undefined) {
    throw refused("The offset for a sink connector should either be null or contain the key 'kafka_offset'")
  }
  const parsed = wholeNumber(value)
  if (parsed === undefined) {
    throw refused(
      `Failed to parse the following Kafka offset value in the provided offsets: '${value}'. Offset values for sink connectors need to be integers.`,
    )
  }
  if (parsed < 0) throw new WorkerError('offsets_refused', `Failed to modify offsets for sink connector ${connector}`)
  return parsed
}

function wholeNumber(value: unknown): number | undefined {
  const text = String(value)
  return /^[-+]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined
}

function refused(message: string): WorkerError {
  return new WorkerError('invalid_request', message)
}
