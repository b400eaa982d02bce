import type { Position as StoredOffset, SourceRecord } from '../../../../../sdk/index.ts'
import type { DatabaseChange, Lsn, SnapshotRow, Table } from '../changes/change.ts'
import type { BlockingSnapshot, IncrementalBatch, IncrementalSnapshot } from './incremental/incremental-snapshot.ts'
import type { SnapshotBatch } from './snapshot-reader.ts'
import type { RowWriter } from './snapshot-records.ts'

export type AdHocOptions = {
  readonly incremental: IncrementalSnapshot
  readonly partition: StoredOffset
  readonly writer: RowWriter
  /** Called before the first row of a table is written. */
  readonly onTable: (table: Table) => Promise<void>
  readonly readBlocking: (request: BlockingSnapshot) => AsyncIterable<SnapshotBatch>
}

/** Snapshots that signals request, as records between those of changes. */
export class AdHocSnapshots {
  readonly #options: AdHocOptions

  constructor(options: AdHocOptions) {
    this.#options = options
  }

  /** Receives each change before it is written. Await the result if there is one. */
  onChange(change: DatabaseChange): Promise<void> | undefined {
    return this.#options.incremental.onChange(change)
  }

  /** The offset with the state of the incremental snapshot. */
  withState(offset: StoredOffset): StoredOffset {
    const keys = this.#options.incremental.offsetKeys
    return keys === undefined ? offset : { ...offset, ...keys }
  }

  /** Records to yield between two transactions. `idleLsn`: the stream has delivered everything before it. */
  async *records(idleLsn: Lsn, offset: StoredOffset): AsyncGenerator<readonly SourceRecord[]> {
    const { incremental, readBlocking } = this.#options
    const batch = incremental.take(idleLsn)
    if (batch !== undefined && batch.rows.length > 0) yield await this.#chunkRecords(batch, offset)
    for (let request = incremental.takeBlocking(); request !== undefined; request = incremental.takeBlocking()) {
      for await (const { rows } of readBlocking(request)) yield await this.#toRecords(rows, this.withState(offset))
    }
  }

  /** Only the last record has the state after the chunk: one may be stored while the next one is not. */
  async #chunkRecords({ rows, before, after }: IncrementalBatch, offset: StoredOffset): Promise<readonly SourceRecord[]> {
    const records = await this.#toRecords(rows.slice(0, -1), { ...offset, ...before })
    return [...records, ...(await this.#toRecords(rows.slice(-1), { ...offset, ...after }))]
  }

  async #toRecords(rows: readonly SnapshotRow[], sourceOffset: StoredOffset): Promise<readonly SourceRecord[]> {
    const { onTable, partition, writer } = this.#options
    const [first] = rows
    if (first !== undefined) await onTable(first.table)
    return rows.flatMap((row) => writer.write(row, { sourcePartition: partition, sourceOffset }))
  }
}
