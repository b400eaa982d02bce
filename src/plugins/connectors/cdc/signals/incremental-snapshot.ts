import { randomUUID } from 'node:crypto'
import type { Position as StoredOffset, TaskLog } from '../../../../sdk/index.ts'
import { DatabaseError } from '../../jdbc/database-error.ts'
import type { IdentifiedTable } from '../table.ts'
import type { ChunkPlan, ChunkSession, ObservedChange, ReadChunk, StreamProgress } from './chunk-session.ts'
import { ChunkSize } from './chunk-size.ts'
import { ChunkWindow } from './chunk-window.ts'
import {
  type ChunkKey,
  type IncrementalState,
  type IncrementalTable,
  parseIncrementalState,
  printIncrementalState,
} from './incremental-state.ts'
import { parseSignal, type RawSignal, type SnapshotSignal } from './signal.ts'
import type { SignalTable } from './signal-table.ts'
import { parseTablePattern, type TablePattern } from './table-pattern.ts'

/** What an incremental snapshot needs of a database. */
export type IncrementalDatabase<Table extends IdentifiedTable, Plan extends ChunkPlan<Table>, Delivered> = {
  readonly openSession: () => Promise<ChunkSession<Table, Plan, Delivered>>
  readonly progress: StreamProgress<Delivered>
  /** Whether the table of a plan is that of the changes that the stream delivers now. */
  readonly isCurrent: (plan: Plan) => boolean
  /** Asks the stream to report its position, so that `take` is called soon. */
  readonly requestPosition: () => void
}

export type IncrementalOptions<
  Table extends IdentifiedTable,
  Plan extends ChunkPlan<Table>,
  Delivered,
> = IncrementalDatabase<Table, Plan, Delivered> & {
  readonly chunkSize: number
  /** Undefined if there is none, or if it is not enabled as a channel. */
  readonly signalTable: SignalTable | undefined
  readonly isReadOnly: boolean
  readonly log: TaskLog
  readonly nowMs: () => number
}

/** Rows of a chunk, and the keys of the offset to store with them. */
export type IncrementalBatch<Table extends IdentifiedTable> = {
  readonly table: Table
  readonly rows: ReadChunk['rows']
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

type Chunk<Plan> = {
  readonly window: ChunkWindow
  readonly plan: Plan
  /** Undefined until it is read. */
  read: ReadChunk | undefined
}
/** The state of a table of which nothing is read. */
const AT_BEGINNING = { lastKey: undefined, maximumKey: undefined, keyColumns: undefined }
type ExecuteSignal = Extract<SnapshotSignal, { readonly kind: 'execute' }>

const RETRY_MS = 1_000
/** SQLSTATE of a condition or statement that writes, or of a signal table on a standby. */
export const READ_ONLY = '25006'

/**
 * Reads tables in chunks between the changes of the stream, as signals request. A chunk is written when the stream has passed
 * the moment at which it was read, without the rows that changed in between.
 */
export class IncrementalSnapshot<Table extends IdentifiedTable, Plan extends ChunkPlan<Table>, Delivered>
  implements AsyncDisposable
{
  readonly #options: IncrementalOptions<Table, Plan, Delivered>
  #state: IncrementalState | undefined
  #printed: { readonly state: IncrementalState; readonly keys: StoredOffset } | undefined
  readonly #chunkSize: ChunkSize
  #plan: Plan | undefined
  #chunk: Chunk<Plan> | undefined
  #reading: Promise<void> | undefined
  #retryAtMs = 0
  #retry: NodeJS.Timeout | undefined
  #session: ChunkSession<Table, Plan, Delivered> | undefined
  readonly #blocking: BlockingSnapshot[] = []
  #isClosed = false

  /** `stored`: the stored offset, from which a snapshot continues. */
  constructor(options: IncrementalOptions<Table, Plan, Delivered>, stored: StoredOffset) {
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

  /** The table whose changes a window observes; undefined if none is open. */
  get observedTable(): Table | undefined {
    return this.#chunk?.plan.table
  }

  /** Receives each change before it is written. Await the result if there is one. */
  onChange(change: ObservedChange<Table>): Promise<void> | undefined {
    this.#chunk?.window.onChange(change)
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

  /** Returns the rows of a chunk whose window is closed, and begins to read the next chunk. */
  take(): IncrementalBatch<Table> | undefined {
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    await this.#session?.[Symbol.asyncDispose]()
    await this.#reading
  }

  async #execute(signal: ExecuteSignal): Promise<void> {
    const { log } = this.#options
    try {
      const patterns = signal.tables.map(parseTablePattern)
      const conditions = signal.conditions.map(({ tables, filter }) => ({ pattern: parseTablePattern(tables), filter }))
      await using session = await this.#options.openSession()
      const captured = await session.capturedTables()
      const names = captured.filter(
        (name) => name !== this.#options.signalTable?.name && patterns.some((pattern) => pattern.test(name)),
      )
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
        for (const [name, statement] of statements) await session.checkSelect(name, statement)
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
    this.#plan = undefined
    this.#chunkSize.reset()
    this.#state = tables.length === 0 ? undefined : { ...this.#state!, tables, ...AT_BEGINNING }
  }

  #closeWindow(): IncrementalBatch<Table> | undefined {
    const { progress, isCurrent } = this.#options
    const chunk = this.#chunk
    if (chunk?.read === undefined) return undefined
    if (chunk.window.isBroken || !isCurrent(chunk.plan)) {
      this.#chunk = undefined
      return undefined
    }
    const rows = chunk.window.close(progress.position)
    if (rows === undefined) return undefined
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
    return { table: chunk.plan.table, rows, before, after: this.offsetKeys }
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
    await this.#session?.[Symbol.asyncDispose]()
    this.#session = undefined
    this.#plan = undefined
    if (error instanceof DatabaseError && error.isTransient && error.sqlState !== READ_ONLY) {
      log.warn({ signal, table: name, err: error }, 'cannot read a chunk of the incremental snapshot; retrying')
      this.#retryAtMs = nowMs() + RETRY_MS
      // A quiet stream takes nothing until then.
      this.#retry = setTimeout(this.#options.requestPosition, RETRY_MS)
      return
    }
    const reason = (error as Error).message
    log.warn({ signal, table: name, reason }, 'leaving a table out of the incremental snapshot')
    if (this.#state?.tables[0]?.name === name) this.#begin(this.#state.tables.slice(1))
  }

  async #readChunk(current: IncrementalTable): Promise<void> {
    const { signalTable, isReadOnly, nowMs, progress } = this.#options
    const session = await this.#openSession()
    const plan = this.#plan ?? (await session.plan(current))
    const begun = isSameKey(plan.keyColumns, this.#state?.keyColumns) ? this.#state : undefined
    const maximum = begun?.maximumKey ?? (await session.readMaximumKey(plan))
    // A signal may have stopped the snapshot in the meantime.
    if (!this.#isFirst(current)) return
    if (maximum === undefined) {
      this.#complete(current)
      return
    }
    const after = begun?.lastKey
    this.#state = { ...this.#state!, maximumKey: maximum, lastKey: after, keyColumns: plan.keyColumns }
    const range = { after, maximum, rowsMax: this.#chunkSize.rows }
    const [id, openedAtMs] = [randomUUID(), nowMs()]
    const chunk: Chunk<Plan> = { window: new ChunkWindow(plan.table.id, identityOf(plan)), plan, read: undefined }
    const delivered = progress.delivered()
    this.#chunk = chunk
    const watermarks = isReadOnly ? undefined : signalTable
    await watermarks?.open(session, id, openedAtMs)
    const read = await session.readChunk(plan, range, delivered)
    this.#chunkSize.onRead(read.rows)
    await watermarks?.close(session, id, openedAtMs, nowMs())
    const described = await session.plan(current)
    if (this.#chunk !== chunk) return
    this.#plan = described
    // The rows have the columns that the table had before. They are read again.
    if (!isSameTable(plan.table, described.table)) this.#chunk = undefined
    else chunk.window.fill(plan.table, read.rows, read.closePosition)
    chunk.read = read
  }

  #isFirst(table: IncrementalTable): boolean {
    return this.#state?.tables[0] === table
  }

  #complete({ name }: IncrementalTable): void {
    const { signalId, tables } = this.#state!
    this.#options.log.info({ signal: signalId, table: name }, 'the incremental snapshot of a table is complete')
    this.#begin(tables.slice(1))
    // The state is stored soon, also if nothing changes.
    this.#options.requestPosition()
  }

  async #openSession(): Promise<ChunkSession<Table, Plan, Delivered>> {
    if (!this.#session?.isOpen) this.#session = await this.#options.openSession()
    return this.#session
  }
}

/** The columns that identify a row among changes: the key, or, without one, the columns that order the chunks. */
function identityOf({ table: { keyNames }, orderNames }: ChunkPlan<IdentifiedTable>): readonly string[] {
  return keyNames.length > 0 ? keyNames : orderNames
}

/** Whether the table has the same columns and the same key. */
function isSameTable(a: IdentifiedTable, b: IdentifiedTable): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function isSameKey(a: ChunkKey, b: ChunkKey | undefined): boolean {
  return b !== undefined && a.length === b.length && a.every((cell, index) => cell === b[index])
}
