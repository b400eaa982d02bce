import type { Table } from '../changes/change.ts'
import { ALL_PAGES, splitPageRanges, type TablePageRange } from './page-ranges.ts'
import type { SnapshotProgress } from './snapshot-progress.ts'

/** A relation to read: a table, or a partition whose rows are published as those of its root. */
export type SnapshotRelation = {
  readonly id: number
  readonly schema: string
  readonly name: string
  /** The table in whose name the rows are written. */
  readonly table: Table
  readonly fileNumber: number
  readonly hasToast: boolean
  readonly rowsEstimate: number
  /** The SELECT statement that replaces the reading of the table. */
  readonly statement: string | undefined
}

/** Sizes of a relation, which are measured when its reading begins. */
export type RelationSize = { readonly pages: number; readonly bytes: number }

/** What one COPY reads. */
export type Chunk = {
  readonly relation: SnapshotRelation
  readonly pages: TablePageRange
  /**
   * Rows that a snapshot before the restart has read may have changed since. Their changes come from the stream, but without
   * large values that did not change. So those that are `changed` are read once more.
   */
  readonly rows: 'all' | 'changed'
}

/** The bytes of a chunk are about this. After a kill, chunks that were not read to their end are read once more. */
const CHUNK_BYTES = 32 << 20
/** A table is divided into several chunks per thread, so that all threads are busy until its end. */
const CHUNKS_PER_THREAD = 4
const CHUNK_PAGES_MIN = 16

/** The chunks that are missing of a relation. A relation without pages is read as a whole. */
export function planChunks(
  relation: SnapshotRelation,
  size: RelationSize | undefined,
  progress: SnapshotProgress,
  { threads, isResumed }: { readonly threads: number; readonly isResumed: boolean },
): readonly Chunk[] {
  const missing = progress.missing(relation.id, relation.fileNumber)
  const read = isResumed && losesValues(relation) ? progress.read(relation.id, relation.fileNumber) : []
  const pagesMax = size === undefined ? undefined : chunkPages(size, threads)
  const split = (ranges: readonly TablePageRange[]) =>
    size === undefined || pagesMax === undefined
      ? ranges.slice(0, 1).map(() => ALL_PAGES)
      : splitPageRanges(ranges, size.pages, pagesMax)
  return [
    ...split(missing).map((pages) => ({ relation, pages, rows: 'all' as const })),
    ...split(read).map((pages) => ({ relation, pages, rows: 'changed' as const })),
  ]
}

/** Whether the change of a row may lack values that only a snapshot has. */
function losesValues({ hasToast, table, statement }: SnapshotRelation): boolean {
  return hasToast && table.replicaIdentity !== 'full' && statement === undefined
}

function chunkPages({ pages, bytes }: RelationSize, threads: number): number {
  const bytesPerPage = Math.max(1, bytes / Math.max(1, pages))
  const shareMax = threads === 1 ? Number.POSITIVE_INFINITY : Math.ceil(pages / (threads * CHUNKS_PER_THREAD))
  return Math.max(CHUNK_PAGES_MIN, Math.min(Math.floor(CHUNK_BYTES / bytesPerPage), shareMax))
}
