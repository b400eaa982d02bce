import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Batch, batchesOf } from '../../src/broker/record-batch/batch-header.ts'
import type { Kafka } from '../env/kafka.ts'

/** The file with the records of a partition, such as `orders-0`. */
export function segmentOf({ dataDirectory }: Kafka, partition: string): string {
  return join(dataDirectory, partition, '00000000000000000000.log')
}

/** Flips the last bit of a batch in place, as a bad disk does: the broker reads the same file. */
export function damageSegment(segment: string, choose: (batches: readonly Batch[]) => Batch) {
  const whole = readFileSync(segment)
  const { bytes, baseOffset } = choose([...batchesOf(whole)])
  const damaged = Buffer.from(whole)
  damaged[bytes.byteOffset - whole.byteOffset + bytes.length - 1]! ^= 1
  writeFileSync(segment, damaged, { flag: 'r+' })
  return { offset: baseOffset, restore: () => writeFileSync(segment, whole, { flag: 'r+' }) }
}
