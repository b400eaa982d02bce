import { AsyncQueue } from '../../../../../common/async-queue.ts'
import type { TaskLog } from '../../../../../sdk/index.ts'
import { type MarkedRows, RowSequence, type SnapshotMarker } from '../../../cdc/snapshot/row-sequence.ts'
import { SnapshotClock, type SnapshotStatus } from '../../../cdc/snapshot/snapshot-status.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import { plainTable } from '../../../jdbc/identifier.ts'
import type { RowTexts } from '../../../jdbc/row-texts.ts'
import type { Session } from '../../session.ts'
import type { Lsn, SnapshotRow, Table } from '../changes/change.ts'
import { readTables } from '../changes/table-catalog.ts'
import { ChunkQueue } from './chunk-queue.ts'
import { copyStatement } from './chunk-statement.ts'
import { type Chunk, planChunks, type SnapshotRelation } from './snapshot-plan.ts'
import { SnapshotProgress } from './snapshot-progress.ts'
import { chooseRelations, type TableChoice } from './snapshot-tables.ts'
import { SnapshotTransactions, type TransactionOptions } from './snapshot-transactions.ts'
import type { SnapshotView } from './snapshot-view.ts'

export type SnapshotOptions = TransactionOptions & {
  readonly tables: TableChoice
  /** Sessions that read at the same time. */
  readonly threads: number
  /** Whether all tables are locked before the first one is read. */
  readonly locksAllTables: boolean
  /** The stored progress of a snapshot that did not end; undefined for a new one. */
  readonly progress: string | undefined
  /** The position from which the stream continues after the snapshot; undefined: where the snapshot is taken. */
  readonly lsn: Lsn | undefined
  /** The view of the stored offset, or one of the snapshot that is taken now; undefined if the slot is not older than the snapshot. */
  readonly openView?: ((currentSnapshot: string) => Promise<SnapshotView | undefined>) | undefined
  /** Called with the view of the tables before the first row. */
  readonly onView?: (view: SnapshotView) => void
  readonly log: TaskLog
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
  /** Called when the snapshot of the slot is imported: the session that exported it may be used for other things. */
  readonly onImported?: () => void
  /** Called about once a second, and at the end. */
  readonly onStatus: (status: SnapshotStatus) => void
}

/** Rows of one table, and the progress to store with them. */
export type SnapshotBatch = {
  readonly rows: readonly SnapshotRow[]
  /** The progress for all rows but the last one: they may be stored while the last one is not. */
  readonly before: string
  /** The progress after the last row; undefined when the snapshot is complete. */
  readonly after: string | undefined
}

/** Batches that wait for the consumer, for each thread. */
const BATCHES_WAITING = 2
const LOG_INTERVAL_MS = 10_000
/** The status is computed from all tables, so it is not computed for each batch. */
const REPORT_INTERVAL_MS = 1_000

/** Rows of a chunk that one of the parallel sessions has read, or the end of the chunk. */
type Reading = { readonly chunk: Chunk; readonly rows: readonly RowTexts[] | 'end' }

/**
 * Reads tables in one snapshot, or what is missing of them after a restart. The missing part is read in a newer snapshot; the
 * stream, which begins at the first snapshot, then delivers the changes between both.
 */
export async function* readSnapshot(options: SnapshotOptions): AsyncGenerator<SnapshotBatch> {
  await using transactions = await SnapshotTransactions.begin(options)
  options.onImported?.()
  const stored = options.progress === undefined ? undefined : SnapshotProgress.parse(options.progress)
  const progress = stored ?? SnapshotProgress.start(transactions.currentSnapshot)
  const relations = chooseRelations(await readTables(transactions.session), options.tables)
  const view = await options.openView?.(transactions.currentSnapshot)
  if (view !== undefined) options.onView?.(view.of(await wholeTables(transactions, relations)))
  if (options.locksAllTables) for (const relation of relations) await lockTable(transactions, relation)
  yield* new SnapshotReader(options, transactions, progress, relations).read()
}

/** Tables of which all rows are read. */
async function wholeTables(
  transactions: SnapshotTransactions,
  relations: readonly SnapshotRelation[],
): Promise<readonly number[]> {
  const hidden = await transactions.readHiddenIds(relations.map(({ id }) => id))
  const isWhole = ({ id, statement }: SnapshotRelation) => statement === undefined && !hidden.has(id)
  const byTable = Map.groupBy(relations, ({ table }) => table.id)
  return [...byTable].filter(([, parts]) => parts.every(isWhole)).map(([id]) => id)
}

class SnapshotReader {
  readonly #options: SnapshotOptions
  readonly #transactions: SnapshotTransactions
  readonly #progress: SnapshotProgress
  readonly #relations: readonly SnapshotRelation[]
  readonly #clock: SnapshotClock
  readonly #threads: number
  readonly #isResumed: boolean
  readonly #released: MarkedRows<ReadRows>[] = []
  readonly #sequence: RowSequence<Table, ReadRows>
  readonly #chunks: ChunkQueue
  #reportedMs: number
  #loggedMs: number

  constructor(
    options: SnapshotOptions,
    transactions: SnapshotTransactions,
    progress: SnapshotProgress,
    relations: readonly SnapshotRelation[],
  ) {
    this.#options = options
    this.#transactions = transactions
    this.#progress = progress
    this.#relations = relations
    this.#isResumed = options.progress !== undefined
    this.#threads = transactions.canReadInParallel ? options.threads : 1
    this.#clock = new SnapshotClock(options.nowMs)
    this.#reportedMs = options.nowMs()
    this.#loggedMs = options.nowMs()
    const firstTable = this.#isResumed ? undefined : relations[0]?.table
    this.#sequence = new RowSequence(firstTable, (rows) => this.#released.push(rows))
    this.#chunks = new ChunkQueue(
      relations,
      (relation) => this.#planRelation(relation),
      ({ table }) => this.#endTable(table),
    )
  }

  async *read(): AsyncGenerator<SnapshotBatch> {
    const lsn = this.#options.lsn ?? (await this.#transactions.readLsn())
    const readAtUs = BigInt(Math.round(this.#options.nowMs())) * 1000n
    const common = { lsn, transactionId: this.#progress.bounds.xmax, readAtUs }
    await this.#estimate()
    this.#options.log.info(
      { tables: this.#relations.length, threads: this.#threads, rowsBefore: this.#progress.rows },
      this.#isResumed ? 'continuing the snapshot' : 'starting the snapshot',
    )
    for await (const reading of this.#readChunks()) {
      this.#accept(reading)
      for (const marked of this.#released.splice(0)) yield this.#toBatch(marked, common)
      this.#report()
    }
    this.#sequence.end()
    for (const marked of this.#released.splice(0)) yield { ...this.#toBatch(marked, common), after: undefined }
    const status = this.#clock.status(this.#progress.rows)
    this.#options.onStatus(status)
    this.#options.log.info(status, 'the snapshot is complete')
  }

  async #estimate(): Promise<void> {
    const pages = await this.#transactions.readPages(this.#relations.map(({ id }) => id))
    for (const { id, fileNumber } of this.#relations) {
      const size = pages.get(id) ?? 0
      const read = this.#progress.read(id, fileNumber).map(({ from, to }) => Math.max(0, Math.min(to, size) - from))
      this.#clock.addTable(
        id,
        size,
        read.reduce((sum, count) => sum + count, 0),
      )
    }
  }

  /** Reads chunks with several sessions. */
  async *#readChunks(): AsyncGenerator<Reading> {
    const queue = new AsyncQueue<Reading>(BATCHES_WAITING * this.#threads)
    const readers = Array.from({ length: this.#threads }, () => this.#runReader(queue))
    const ended = Promise.all(readers).then(
      () => queue.end(),
      (error: Error) => queue.end(error),
    )
    try {
      yield* queue
    } finally {
      // Readers that wait for the queue end; those that wait for the server end when their session is closed.
      await this.#transactions.close()
      await ended
    }
  }

  async #runReader(queue: AsyncQueue<Reading>): Promise<void> {
    let session: Session | undefined
    for (let chunk = await this.#chunks.next(); chunk !== undefined; chunk = await this.#chunks.next()) {
      session ??= await this.#transactions.openReader()
      const statement = copyStatement(chunk, this.#isResumed ? this.#progress.bounds : undefined)
      const operation = `read the table ${plainTable(chunk.relation)}`
      try {
        for await (const rows of session.copyOut(operation, statement)) {
          if (!(await queue.push({ chunk, rows }))) return
        }
      } catch (error) {
        throw asTableChange(error, chunk.relation)
      }
      if (!(await queue.push({ chunk, rows: 'end' }))) return
    }
  }

  async #planRelation(relation: SnapshotRelation): Promise<readonly Chunk[]> {
    await lockTable(this.#transactions, relation)
    const size = await this.#transactions.measure(relation)
    if (size === undefined) throw tableChange(relation, undefined)
    const canSplit = this.#transactions.canSplitTables && relation.statement === undefined
    return planChunks(relation, canSplit ? size : undefined, this.#progress, {
      threads: this.#threads,
      isResumed: this.#isResumed,
    })
  }

  #accept({ chunk, rows }: Reading): void {
    const state = this.#chunks.stateOf(chunk)
    if (rows !== 'end') {
      state.batchesHeld += 1
      this.#sequence.add(chunk.relation.table, { chunk, rows }, rows.length)
      return
    }
    state.isRead = true
    this.#endChunkIfYielded(chunk)
    if (this.#chunks.endChunk(chunk)) this.#endTable(chunk.relation.table)
  }

  #endTable(table: Table): void {
    this.#sequence.endTable(table)
    for (const relation of this.#relations) if (relation.table === table) this.#clock.endTable(relation.id)
  }

  #endChunkIfYielded(chunk: Chunk): void {
    const { isRead, batchesHeld } = this.#chunks.stateOf(chunk)
    const { relation, pages, rows } = chunk
    if (!isRead || batchesHeld > 0 || rows !== 'all') return
    this.#progress.addPages(relation.id, relation.fileNumber, pages)
    this.#clock.addPages(relation.id, pages.to - pages.from)
  }

  #toBatch({ batch: { chunk, rows }, first, last }: MarkedRows<ReadRows>, common: CommonOfRows): SnapshotBatch {
    const before = this.#progress.print()
    this.#chunks.stateOf(chunk).batchesHeld -= 1
    this.#endChunkIfYielded(chunk)
    this.#progress.addRows(rows.length)
    const { table } = chunk.relation
    const markers = new Map<number, SnapshotMarker>([
      [rows.length - 1, last],
      [0, first],
    ])
    return {
      rows: rows.map((row, index) => ({
        kind: 'snapshot',
        table,
        row,
        marker: markers.get(index) ?? 'true',
        lsn: common.lsn,
        transactionId: common.transactionId,
        readAtUs: common.readAtUs,
      })),
      before,
      after: this.#progress.print(),
    }
  }

  #report(): void {
    const { log, onStatus } = this.#options
    const nowMs = this.#options.nowMs()
    if (nowMs - this.#reportedMs < REPORT_INTERVAL_MS) return
    this.#reportedMs = nowMs
    const status = this.#clock.status(this.#progress.rows)
    onStatus(status)
    if (nowMs - this.#loggedMs < LOG_INTERVAL_MS) return
    this.#loggedMs = nowMs
    log.info(status, 'reading the snapshot')
  }
}

async function lockTable(transactions: SnapshotTransactions, relation: SnapshotRelation): Promise<void> {
  try {
    await transactions.lock(relation)
  } catch (error) {
    throw asTableChange(error, relation)
  }
}

/** SQLSTATE codes of a table or a column that does not exist. */
const MISSING: ReadonlySet<string | undefined> = new Set(['42P01', '42703'])

/** The server parses statements with the tables of the present, not with those of the snapshot, which described them. */
function asTableChange(error: unknown, relation: SnapshotRelation): unknown {
  const isMissing = error instanceof DatabaseError && MISSING.has(error.sqlState) && relation.statement === undefined
  return isMissing ? tableChange(relation, error) : error
}

function tableChange(relation: SnapshotRelation, cause: unknown): DatabaseError {
  const message = `the table ${plainTable(relation)} was changed, truncated or dropped after the snapshot was taken`
  return new DatabaseError(`${message}; continuing with a newer snapshot`, { isTransient: true, cause })
}

type CommonOfRows = Pick<SnapshotRow, 'lsn' | 'transactionId' | 'readAtUs'>
type ReadRows = { readonly chunk: Chunk; readonly rows: readonly RowTexts[] }
