import type { NewRecord } from '../../broker/broker.ts'
import { type RowBatch, type SourceRecord, toSourceRecord } from '../../sdk/index.ts'

/** A batch that is ready to be produced. */
export type ConvertedBatch = {
  readonly records: readonly NewRecord[]
  readonly sources: ConvertedSources
  readonly bytes: number
}

/** The source record of each record that was converted. */
export type ConvertedSources = {
  /** Returns the source record of the record at this index. */
  at(index: number): SourceRecord
  /**
   * What is kept of source records until they are stored, besides the converted bytes: the values of their columns are several
   * times larger, and each collection of the young generation would copy them.
   */
  withoutContent(): ConvertedSources
}

export function sourcesOf(records: readonly SourceRecord[]): ConvertedSources {
  return {
    at: (index) => records[index]!,
    withoutContent: () => sourcesOf(records.map(withoutContent)),
  }
}

/** The sources of records that were converted from these rows of a batch. */
export function rowSourcesOf(batch: RowBatch, rows: readonly number[]): ConvertedSources {
  return {
    at: (index) => toSourceRecord(batch, rows[index]!),
    withoutContent: () => rowPositionsOf(batch, rows),
  }
}

/** A function of its own, because a closure beside the batch would keep its columns. */
function rowPositionsOf({ topic, sourcePartition, offsetOf }: RowBatch, rows: readonly number[]): ConvertedSources {
  const sources: ConvertedSources = {
    at: (index) => ({
      topic,
      timestampMs: null,
      value: undefined,
      sourcePartition,
      sourceOffset: offsetOf(rows[index]!),
    }),
    withoutContent: () => sources,
  }
  return sources
}

function withoutContent({ topic, timestampMs, sourcePartition, sourceOffset }: SourceRecord): SourceRecord {
  return { topic, timestampMs: timestampMs ?? null, value: undefined, sourcePartition, sourceOffset }
}
