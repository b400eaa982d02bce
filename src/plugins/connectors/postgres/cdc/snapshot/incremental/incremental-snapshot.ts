import { randomUUID } from 'node:crypto'
import type { Position as StoredOffset, TaskLog } from '../../../../../../sdk/index.ts'
import { ChunkSize } from '../../../../cdc/signals/chunk-size.ts'
import {
  type ChunkKey,
  type IncrementalState,
  type IncrementalTable,
  parseIncrementalState,
  printIncrementalState,
} from '../../../../cdc/signals/incremental-state.ts'
import { parseSignal, type RawSignal, type SnapshotSignal } from '../../../../cdc/signals/signal.ts'
import { DatabaseError } from '../../../../jdbc/database-error.ts'
import type { Session } from '../../../session.ts'
import type { DatabaseChange, Lsn, SnapshotRow, Table } from '../../changes/change.ts'
import { readTables } from '../../changes/table-catalog.ts'
import {
  type ChunkQuery,
  checkSelect,
  describeQuery,
  isSameDescription,
  keyColumnsOf,
  type ReadChunk,
  readMaximumKey,
  readVisibleChunk,
} from './chunk-reader.ts'
import { ChunkWindow } from './chunk-window.ts'
import type { SignalTable } from './signal-table.ts'
import { parseTablePattern, type TablePattern } from './table-pattern.ts'

export type IncrementalOptions = {
  /** Opens a session for queries, and writes to the signal table unless `read.only` is set. */
  readonly openSession: () => Promise<Session>
  readonly isCaptured: (table: { readonly schema: string; readonly name: string }) => boolean
  /** Whether changes of partitions are published as changes of their root. */
  readonly publishesRoot: boolean
  readonly chunkSize: number
  /** Undefined if there is none, or if it is not enabled as a channel. */
  readonly signalTable: SignalTable | undefined
  readonly isReadOnly: boolean
  /** Asks the stream to report its position, so that `take` is called soon. */
  readonly requestPosition: () => void
  readonly log: TaskLog
  readonly nowMs: () => number
}

/** Rows of a chunk, and the keys of the offset to store with them. */
export type IncrementalBatch = {
  readonly table: Table
  readonly rows: readonly SnapshotRow[]
  /** For all rows but the last one: they may be stored while the last one is not. */
  readonly before: StoredOffset | undefined
  readonly after: StoredOffset | undefined
}

/** A snapshot that interrupts the changes, with the SELECT statement of each table that a condition restricts. */
export type BlockingSnapshot = {
  readonly signalId: string
  readonly tables: readonly string[]
  readonly statements: ReadonlyMap<string, string>
}

type Chunk = {
  readonly window: ChunkWindow
  readonly table: Table
  /** Undefined until it is read. */
  read: ReadChunk | undefined
}
/** The state of a table of which nothing is read. */
const AT_BEGINNING = { lastKey: undefined, maximumKey: undefined, keyColumns: undefined }
type ExecuteSignal = Extract<SnapshotSignal, { readonly kind: 'execute' }>

/** Transactions that the stream delivered last. One of them may not be visible yet when a chunk is read. */
const RECENT_MAX = 4_096
const RETRY_MS = 1_000
/** SQLSTATE of a condition or statement that writes, or of a signal table on a standby. */
export const READ_ONLY = '25006'

/**
 * Reads tables in chunks between the changes of the stream, as signals request. A chunk is written when the stream has passed
 * the moment at which it was read, without the rows that changed in between.
 */
export class IncrementalSnapshot implements AsyncDisposable {
  readonly #options: IncrementalOptions
  #state: IncrementalState | undefined
  #printed: { readonly state: IncrementalState; readonly keys: StoredOffset } | undefined
  readonly #chunkSize: ChunkSize
  #query: ChunkQuery | undefined
  #chunk: Chunk | undefined
  #reading: Promise<void> | undefined
  #retryAtMs = 0
  #session: Session | undefined
  #delivered: Lsn = 0n
  readonly #recent: number[] = []
  #recentCount = 0
  readonly #blocking: BlockingSnapshot[] = []
  #isClosed = false

  /** `stored`: the stored offset, from which a snapshot continues. */
  constructor(options: IncrementalOptions, stored: StoredOffset) {
    this.#options = options
    this.#chunkSize = new ChunkSize(options.chunkSize)
    this.#state = parseIncrementalState(stored)
    if (this.#state === undefined) return
    const { tables, signalId } = this.#state
    options.log.info(
      { signal: signalId, tables: tables.map(({ name }) => name) },
      'continuing the incremental snapshot',
    )
  }

  /** Keys of the offset to store with each record; undefined without a snapshot. */
  get offsetKeys(): StoredOffset | undefined {
    if (this.#state === undefined) return undefined
    if (this.#printed?.state !== this.#state)
      this.#printed = { state: this.#state, keys: printIncrementalState(this.#state) }
    return this.#printed.keys
  }

  /** Receives each change before it is written. Await the result if there is one. */
  onChange(change: DatabaseChange): Promise<void> | undefined {
    this.#chunk?.window.onChange(change)
    if (change.kind === 'begin') this.#advance(change.transaction.commitLsn)
    if (change.kind === 'commit') {
      this.#advance(change.endLsn)
      this.#recent[this.#recentCount % RECENT_MAX] = change.transaction.id
      this.#recentCount += 1
    }
    const signal = this.#options.signalTable?.signalOf(change)
    if (signal !== undefined) return this.onSignal(signal)
    return this.#chunk?.window.isFull ? this.#reading : undefined
  }

  /** Executes a signal of any channel. A signal that is wrong is a warning. */
  async onSignal(raw: RawSignal): Promise<void> {
    const { log } = this.#options
    let signal: SnapshotSignal
    try {
      signal = parseSignal(raw)
    } catch (error) {
      log.warn({ signal: raw.id, reason: (error as Error).message }, 'ignoring a signal that cannot be understood')
      return
    }
    if (signal.kind === 'log') log.info({ signal: raw.id }, signal.message)
    else if (signal.kind === 'execute') await this.#execute(signal)
    else if (signal.kind === 'stop') this.#stop(raw.id, signal.tables)
    else if (signal.kind !== 'watermark') this.#setPaused(raw.id, signal.kind === 'pause')
  }

  /**
   * Returns the rows of a chunk whose window is closed, and begins to read the next chunk. `idleLsn`: the stream has delivered
   * everything before it.
   */
  take(idleLsn: Lsn | undefined): IncrementalBatch | undefined {
    if (idleLsn !== undefined) this.#advance(idleLsn)
    const batch = this.#closeWindow()
    if (
      this.#state !== undefined &&
      !this.#state.isPaused &&
      this.#chunk === undefined &&
      this.#reading === undefined
    ) {
      if (this.#options.nowMs() >= this.#retryAtMs) this.#reading = this.#read()
    }
    return batch
  }

  /** The next snapshot to read before the stream continues. */
  takeBlocking(): BlockingSnapshot | undefined {
    return this.#blocking.shift()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#session?.close()
    await this.#reading
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #advance(lsn: Lsn): void {
    if (lsn > this.#delivered) this.#delivered = lsn
  }

  async #execute(signal: ExecuteSignal): Promise<void> {
    const { log, isCaptured, publishesRoot } = this.#options
    try {
      const patterns = signal.tables.map(parseTablePattern)
      const conditions = signal.conditions.map(({ tables, filter }) => ({ pattern: parseTablePattern(tables), filter }))
      await using session = await this.#options.openSession()
      const catalog = await readTables(session)
      const names = catalog
        // The topic of a partition would get its rows, but no changes.
        .filter(({ table, partitionOf }) => isCaptured(table) && !(publishesRoot && partitionOf !== undefined))
        .map(({ table: { schema, name } }) => `${schema}.${name}`)
        .filter((name) => name !== this.#options.signalTable?.name && patterns.some((pattern) => pattern.test(name)))
      if (names.length === 0) {
        log.warn({ signal: signal.id, tables: signal.tables }, 'ignoring a snapshot of tables that are not captured')
        return
      }
      const conditionOf = (name: string) => conditions.find(({ pattern }) => pattern.test(name))?.filter
      if (signal.isBlocking) {
        const statements = names.flatMap((name) => {
          const statement = conditionOf(name)
          return statement === undefined ? [] : [[name, statement.replace(/;\s*$/, '')] as const]
        })
        for (const [name, statement] of statements) await checkSelect(session, name, statement)
        this.#blocking.push({ signalId: signal.id, tables: names, statements: new Map(statements) })
        return
      }
      this.#enqueue(
        signal.id,
        names.map((name) => ({ name, condition: conditionOf(name), surrogateKey: signal.surrogateKey })),
      )
    } catch (error) {
      // The signal is delivered again after the restart.
      if (error instanceof DatabaseError && error.isTransient) throw error
      log.warn({ signal: signal.id, reason: (error as Error).message }, 'ignoring a snapshot that cannot be started')
    }
  }

  #enqueue(signalId: string, added: readonly IncrementalTable[]): void {
    const state = this.#state ?? { signalId, tables: [], isPaused: false, ...AT_BEGINNING }
    const isKnown = ({ name }: IncrementalTable) => state.tables.some((table) => table.name === name)
    const tables = added.filter((table) => !isKnown(table))
    this.#state = { ...state, tables: [...state.tables, ...tables] }
    this.#options.log.info(
      { signal: signalId, tables: tables.map(({ name }) => name) },
      'incremental snapshot requested',
    )
    this.#options.requestPosition()
  }

  #stop(signalId: string, texts: readonly string[] | undefined): void {
    const { log } = this.#options
    if (this.#state === undefined) {
      log.warn({ signal: signalId }, 'ignoring a signal to stop the incremental snapshot: there is none')
      return
    }
    let patterns: readonly TablePattern[] | undefined
    try {
      patterns = texts?.map(parseTablePattern)
    } catch (error) {
      log.warn(
        { signal: signalId, reason: (error as Error).message },
        'ignoring a signal to stop an incremental snapshot',
      )
      return
    }
    const isStopped = ({ name }: IncrementalTable) => patterns?.some((pattern) => pattern.test(name)) ?? true
    const [current, ...others] = this.#state.tables
    const rest = others.filter((table) => !isStopped(table))
    log.info(
      { signal: signalId, tables: this.#state.tables.filter(isStopped).map(({ name }) => name) },
      'stopping the incremental snapshot',
    )
    if (isStopped(current!)) this.#begin(rest)
    else this.#state = { ...this.#state, tables: [current!, ...rest] }
  }

  #setPaused(signalId: string, isPaused: boolean): void {
    const { log, requestPosition } = this.#options
    if (this.#state === undefined) {
      log.warn({ signal: signalId }, 'ignoring a signal to pause or resume the incremental snapshot: there is none')
      return
    }
    this.#state = { ...this.#state, isPaused }
    log.info({ signal: signalId }, isPaused ? 'the incremental snapshot is paused' : 'the incremental snapshot resumes')
    if (!isPaused) requestPosition()
  }

  /** Begins with the first of these tables. The chunk of another table is dropped. */
  #begin(tables: readonly IncrementalTable[]): void {
    this.#chunk = undefined
    this.#query = undefined
    this.#chunkSize.reset()
    this.#state = tables.length === 0 ? undefined : { ...this.#state!, tables, ...AT_BEGINNING }
  }

  #closeWindow(): IncrementalBatch | undefined {
    const chunk = this.#chunk
    if (chunk?.window.isBroken && chunk.read !== undefined) {
      this.#chunk = undefined
      return undefined
    }
    const rows = chunk?.window.close(this.#delivered)
    if (chunk?.read === undefined || rows === undefined) return undefined
    const before = this.offsetKeys
    const [table] = this.#state!.tables
    const { lastKey } = chunk.read
    this.#chunk = undefined
    const isLast = lastKey === undefined || isSameKey(lastKey, this.#state!.maximumKey)
    if (isLast) {
      this.#complete(table!)
    } else {
      this.#state = { ...this.#state!, lastKey }
    }
    return { table: chunk.table, rows: this.#toRows(chunk.table, rows), before, after: this.offsetKeys }
  }

  #toRows(table: Table, rows: readonly (readonly (string | null)[])[]): readonly SnapshotRow[] {
    const readAtUs = BigInt(Math.round(this.#options.nowMs())) * 1000n
    const common = { kind: 'snapshot', table, marker: 'incremental', transactionId: undefined } as const
    return rows.map((row) => ({ ...common, row, lsn: this.#delivered, readAtUs }))
  }

  /** Reads a chunk of the first table. Errors that concern the table only end its snapshot. */
  async #read(): Promise<void> {
    const [current] = this.#state!.tables
    try {
      await this.#readChunk(current!)
    } catch (error) {
      this.#chunk = undefined
      if (this.#isClosed) return
      await this.#handle(error, current!)
    } finally {
      this.#reading = undefined
      if (!this.#isClosed) this.#options.requestPosition()
    }
  }

  async #handle(error: unknown, { name }: IncrementalTable): Promise<void> {
    const { log, nowMs } = this.#options
    const signal = this.#state?.signalId
    await this.#session?.close()
    this.#session = undefined
    this.#query = undefined
    this.#retryAtMs = nowMs() + RETRY_MS
    if (error instanceof DatabaseError && error.isTransient && error.sqlState !== READ_ONLY) {
      log.warn({ signal, table: name, err: error }, 'cannot read a chunk of the incremental snapshot; retrying')
      return
    }
    const reason = (error as Error).message
    log.warn({ signal, table: name, reason }, 'leaving a table out of the incremental snapshot')
    if (this.#state?.tables[0]?.name === name) this.#begin(this.#state.tables.slice(1))
  }

  async #readChunk(current: IncrementalTable): Promise<void> {
    const { signalTable, isReadOnly, nowMs } = this.#options
    const session = await this.#openSession()
    const query = this.#query ?? (await describeQuery(session, current))
    const keyColumns = keyColumnsOf(query)
    const begun = isSameKey(keyColumns, this.#state?.keyColumns) ? this.#state : undefined
    const maximum = begun?.maximumKey ?? (await readMaximumKey(session, query))
    // A signal may have stopped the snapshot in the meantime.
    if (!this.#isCurrent(current)) return
    if (maximum === undefined) {
      this.#complete(current)
      return
    }
    const after = begun?.lastKey
    this.#state = { ...this.#state!, maximumKey: maximum, lastKey: after, keyColumns }
    const range = { after, maximum, rowsMax: this.#chunkSize.rows }
    const [id, openedAtMs] = [randomUUID(), nowMs()]
    const { table } = query.table
    const chunk: Chunk = { window: new ChunkWindow(table.id, identityOf(query)), table, read: undefined }
    const delivered = [...this.#recent]
    this.#chunk = chunk
    const watermarks = isReadOnly ? undefined : signalTable
    await watermarks?.open(session, id, openedAtMs)
    const read = await readVisibleChunk(session, query, range, delivered)
    this.#chunkSize.onRead(read.rows)
    await watermarks?.close(session, id, openedAtMs, nowMs())
    const described = await describeQuery(session, current)
    if (this.#chunk !== chunk) return
    this.#query = described
    // The rows have the columns that the table had before. They are read again.
    if (!isSameDescription(query, described)) this.#chunk = undefined
    else chunk.window.fill(table, read.rows, read.closeLsn)
    chunk.read = read
  }

  #isCurrent(table: IncrementalTable): boolean {
    return this.#state?.tables[0] === table
  }

  #complete({ name }: IncrementalTable): void {
    const { signalId, tables } = this.#state!
    this.#options.log.info({ signal: signalId, table: name }, 'the incremental snapshot of a table is complete')
    this.#begin(tables.slice(1))
  }

  async #openSession(): Promise<Session> {
    if (!this.#session?.isOpen) this.#session = await this.#options.openSession()
    return this.#session
  }
}

/** The columns that identify a row among changes: the key, or, without one, the columns that order the chunks. */
function identityOf({ table: { table }, orderNames }: ChunkQuery): readonly string[] {
  const { keyNames } = table
  return keyNames.length > 0 ? keyNames : orderNames
}

function isSameKey(a: ChunkKey, b: ChunkKey | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((cell, index) => cell === b[index])
}
