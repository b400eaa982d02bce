import { BrokerError } from '../broker-error.ts'
import { crc32c } from '../record-batch/checksums.ts'
import { ATTRIBUTES_AT, BASE_OFFSET_AT, CRC_AT } from '../record-batch/record-batch-layout.ts'
import { parseHeader } from './batch-header.ts'

/** A row of the table `batches`. */
export type StoredBatch = { readonly baseOffset: number; readonly lastOffset: number; readonly bytes: Uint8Array }

/** Checks that the header is valid and matches the row. Returns the fault as text, or undefined if there is none. */
export function headerFault({ baseOffset, lastOffset, bytes }: StoredBatch): string | undefined {
  // A damaged row of the database may hold anything.
  if (!(bytes instanceof Uint8Array)) return 'its row has no bytes'
  try {
    const { lastOffsetDelta } = parseHeader(bytes)
    const stored = Number(viewOf(bytes).getBigInt64(BASE_OFFSET_AT))
    if (stored === baseOffset && baseOffset + lastOffsetDelta === lastOffset) return undefined
    return `its header has the offsets ${stored} to ${stored + lastOffsetDelta}`
  } catch (error) {
    if (error instanceof BrokerError) return error.message
    throw error
  }
}

/** Like `headerFault`, but also verifies the checksum of the content. */
export function batchFault(batch: StoredBatch): string | undefined {
  const fault = headerFault(batch)
  if (fault !== undefined) return fault
  const { bytes } = batch
  return viewOf(bytes).getUint32(CRC_AT) === crc32c(bytes.subarray(ATTRIBUTES_AT))
    ? undefined
    : 'its checksum does not match'
}

/** Throws `data_corrupt` if the batch is damaged. Called before its records are parsed or rewritten. */
export function checkBatchContent(partition: PartitionName, batch: StoredBatch): void {
  const fault = batchFault(batch)
  if (fault !== undefined) throw damagedBatch(partition, batch, fault)
}

type PartitionName = { readonly topic: string; readonly number: number }

export function damagedBatch(
  { topic, number }: PartitionName,
  { baseOffset, lastOffset }: StoredBatch,
  fault: string,
): BrokerError {
  return new BrokerError(
    'data_corrupt',
    `topic '${topic}', partition ${number}: the batch at offsets ${baseOffset} to ${lastOffset} is damaged: ${fault}. ` +
      'Stop this program and restore a backup with weir data restore, or recover the readable records with weir data repair',
  )
}

/** Converts a row with the columns `base_offset`, `last_offset` and `bytes`. */
export function toStoredBatch(row: Record<string, unknown>): StoredBatch {
  return {
    baseOffset: Number(row['base_offset']),
    lastOffset: Number(row['last_offset']),
    bytes: row['bytes'] as Uint8Array,
  }
}

export function viewAsBuffer({ buffer, byteOffset, length }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, length)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
