import type { StoredRecord } from '../broker.ts'
import type { Batch } from '../record-batch/batch-header.ts'
import { BatchRecords } from '../record-batch/record-batch.ts'

/** What the current poll may still return. */
export type PollBudget = { bytes: number; records: number }

export function hasRoom({ bytes, records }: PollBudget): boolean {
  return bytes > 0 && records > 0
}

/** A batch of which polls return one part after the other. */
export class OpenBatch {
  readonly #records: BatchRecords
  readonly #endOffset: number
  /** Offset of the next record that is returned. */
  #offset: number

  /** From `offset` on, which may be inside the batch. Rejects as `BatchRecords.open` does. */
  static async open(batch: Batch, offset: number): Promise<OpenBatch> {
    return new OpenBatch(await BatchRecords.open(batch), batch.nextOffset, offset)
  }

  private constructor(records: BatchRecords, endOffset: number, offset: number) {
    this.#records = records
    this.#endOffset = endOffset
    this.#offset = offset
  }

  /** The offset after the last record that was returned; after the batch if there are no more. */
  get offset(): number {
    return this.#offset
  }

  get isDone(): boolean {
    return !this.#records.hasNext
  }

  /** Decodes the next records into `into`, as many as the poll may return. Throws for a damaged record. */
  take(left: PollBudget, into: StoredRecord[]): void {
    while (this.#records.hasNext && hasRoom(left)) {
      const start = this.#records.position
      const record = this.#records.next()
      left.bytes -= this.#records.position - start
      if (record.offset < this.#offset) continue
      left.records -= 1
      this.#offset = record.offset + 1
      into.push(record)
    }
    if (this.isDone) this.#offset = this.#endOffset
  }
}
