import { BrokerError } from '../broker-error.ts'
import { type Batch, checkBatch, corrupt, singleBatch } from '../record-batch/batch-header.ts'

/** A row of the table `batches`. */
export type StoredBatch = { readonly baseOffset: number; readonly lastOffset: number; readonly bytes: Uint8Array }

/** Decodes the header and compares it with the row. Throws `corrupt_batch`. */
export function parseStoredBatch({ baseOffset, lastOffset, bytes }: StoredBatch): Batch {
  // A damaged row of the database may hold anything.
  if (!(bytes instanceof Uint8Array)) throw corrupt('its row has no bytes')
  const batch = singleBatch(bytes)
  if (batch.baseOffset === baseOffset && batch.nextOffset === lastOffset + 1) return batch
  throw corrupt(`its header has the offsets ${batch.baseOffset} to ${batch.nextOffset - 1}`)
}

/** Like `parseStoredBatch`, but also verifies the checksum of the content. */
export function verifyStoredBatch(stored: StoredBatch): Batch {
  const batch = parseStoredBatch(stored)
  checkBatch(batch)
  return batch
}

/** Calls one of the functions above, and throws `data_corrupt` with the place of the batch if it is damaged. */
export function readStoredBatch(
  { topic, number }: { readonly topic: string; readonly number: number },
  stored: StoredBatch,
  parse: (stored: StoredBatch) => Batch,
): Batch {
  try {
    return parse(stored)
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    const { baseOffset, lastOffset } = stored
    throw new BrokerError(
      'data_corrupt',
      `topic '${topic}', partition ${number}: the batch at offsets ${baseOffset} to ${lastOffset} is damaged: ${error.message}. ` +
        'Stop this program and restore a backup with weir data restore, or recover the readable records with weir data repair',
    )
  }
}

/** Converts a row with the columns `base_offset`, `last_offset` and `bytes`. */
export function toStoredBatch(row: Record<string, unknown>): StoredBatch {
  return {
    baseOffset: Number(row['base_offset']),
    lastOffset: Number(row['last_offset']),
    bytes: row['bytes'] as Uint8Array,
  }
}
