import type { NewRecord } from '../broker.ts'
import { BrokerError } from '../broker-error.ts'
import { recordBytesMax } from '../record-batch/record-batch.ts'

export const BATCH_BYTES_MAX = 1_000_000
const PARTITION_MAX = 2 ** 31 - 1

/**
 * Throws if a producer with this limit would reject the record regardless of the topic: `record_too_large`, or `invalid_record` for a
 * record that cannot be encoded, because it comes from a plugin.
 */
export function checkRecord(record: NewRecord, bytesMax = BATCH_BYTES_MAX): void {
  const { key, value, topic, partition, timestampMs, headers } = record
  const isValid =
    (partition === undefined || (Number.isInteger(partition) && partition >= 0 && partition <= PARTITION_MAX)) &&
    (timestampMs === undefined || Number.isSafeInteger(timestampMs)) &&
    isBytes(key) &&
    isBytes(value) &&
    (headers === undefined || headers.every(([name, content]) => typeof name === 'string' && isBytes(content)))
  if (!isValid) throw invalidRecord(record)
  if ((key?.length ?? 0) + (value?.length ?? 0) <= bytesMax) return
  const bytes = recordBytesMax(record)
  throw new BrokerError(
    'record_too_large',
    `a record of ${bytes} bytes for topic '${topic}' exceeds the maximum of ${bytesMax} bytes`,
  )
}

function isBytes(content: Uint8Array | null): boolean {
  return content === null || content instanceof Uint8Array
}

function invalidRecord({ topic, partition, timestampMs }: NewRecord): BrokerError {
  const shown = `partition ${String(partition)}, timestamp ${String(timestampMs)}`
  return new BrokerError(
    'invalid_record',
    `a record for topic '${topic}' cannot be written (${shown}): expected whole numbers as partition and timestamp, and bytes as key, ` +
      'value and headers',
  )
}
