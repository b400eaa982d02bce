import type { StoredRecord } from '../../../../src/broker/broker.ts'
import type { BrokerBackend } from '../../../../src/broker/broker-backend.ts'
import { batchesOf } from '../../../../src/broker/record-batch/batch-header.ts'
import { recordsOf } from '../../../../src/broker/record-batch/record-batch.ts'

/** The committed records of a partition, read from the broker without a network. */
export async function readPartition(
  backend: BrokerBackend,
  topic: string,
  partition: number,
): Promise<readonly StoredRecord[]> {
  const records: StoredRecord[] = []
  for (let offset = 0; ; ) {
    const partitions = [{ topic, partition, offset }]
    const limits = { bytesMin: 0, bytesMax: 16 * 1_048_576, waitMsMax: 0 }
    const [fetched] = await backend.fetch({ node: 0, partitions, isolation: 'read_committed', ...limits })
    if (fetched === undefined || fetched.error !== undefined || fetched.bytes.length === 0) return records
    for (const batch of batchesOf(fetched.bytes)) {
      if (batch.nextOffset <= offset) continue
      offset = batch.nextOffset
      if (!batch.isControl) records.push(...(await recordsOf(batch)))
    }
  }
}
