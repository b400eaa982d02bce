import type { IdentifiedTable, RowImages } from '../table.ts'
import type { ChunkKey, IncrementalTable } from './incremental-state.ts'
import type { RawSignal } from './signal.ts'

/** A place in the log of a server, as a number that grows. */
export type LogPosition = bigint

/** A change as an incremental snapshot observes it. */
export type ObservedChange<Table extends IdentifiedTable> =
  | (RowImages<Table> & { readonly kind: 'row'; readonly op: 'c' | 'u' | 'd' })
  | { readonly kind: 'truncate'; readonly tables: readonly Table[] }
  | { readonly kind: 'begin' | 'commit' | 'message' }

/** How the rows of a table are read in chunks. */
export type ChunkPlan<Table extends IdentifiedTable> = {
  readonly table: Table
  /** Columns by which chunks are ordered. */
  readonly orderNames: readonly string[]
  /** These columns, each with what its order depends on. */
  readonly keyColumns: readonly string[]
  /** SQL condition on the rows. */
  readonly condition: string | undefined
}

/** The keys between which rows are read: after the first one, up to the second one. */
export type ChunkRange = { readonly after: ChunkKey | undefined; readonly maximum: ChunkKey; readonly rowsMax: number }

export type ReadChunk = {
  readonly rows: readonly (readonly (string | null)[])[]
  /** The key of the last row; undefined if there are no rows. */
  readonly lastKey: ChunkKey | undefined
  /** Transactions that end before this position may be in the rows, none that ends later. */
  readonly closePosition: LogPosition
}

/** What a stream has delivered. */
export interface StreamProgress<Delivered> {
  /** Everything before this position was delivered. */
  readonly position: LogPosition
  /** What the rows of a chunk must contain if its window opens now. */
  delivered(): Delivered
}

/** A session of the database in which an incremental snapshot reads, and writes to the signal table unless `read.only` is set. */
export interface ChunkSession<Table extends IdentifiedTable, Plan extends ChunkPlan<Table>, Delivered>
  extends AsyncDisposable {
  readonly isOpen: boolean
  /** Names, as `schema.table`, of the captured tables. */
  capturedTables(): Promise<readonly string[]>
  /** Rejects unless the text is one SELECT statement that reads only. */
  checkSelect(table: string, statement: string): Promise<void>
  /** Describes a table as it is now. Rejects with an `UnreadableTable` if it cannot be read in chunks. */
  plan(table: IncrementalTable): Promise<Plan>
  /** Reads the highest key; undefined if no rows match. */
  readMaximumKey(plan: Plan): Promise<ChunkKey | undefined>
  /** Reads the next rows in the order of their keys, with everything that was delivered when the window opened. */
  readChunk(plan: Plan, range: ChunkRange, delivered: Delivered): Promise<ReadChunk>
  /** `table`, as `schema.table`, has three columns. */
  insertSignal(table: string, signal: RawSignal): Promise<unknown>
  deleteSignal(table: string, id: string): Promise<unknown>
}

/** A table that cannot be read in chunks. The message is for the log. */
export class UnreadableTable extends Error {
  override readonly name = 'UnreadableTable'
}

/** Returns the columns by which chunks are ordered. Throws an `UnreadableTable` if none can order them. */
export function chunkOrder(
  {
    columns,
    keyNames,
  }: Pick<IdentifiedTable, 'keyNames'> & {
    readonly columns: readonly { readonly name: string; readonly isOptional: boolean }[]
  },
  surrogateKey: string | undefined,
): readonly string[] {
  const isComplete = keyNames.every((key) => columns.some(({ name, isOptional }) => name === key && !isOptional))
  if (surrogateKey === undefined) {
    if (keyNames.length > 0 && isComplete) return keyNames
    throw new UnreadableTable(
      'it has no key without optional columns: add a primary key, or name a unique column as surrogate-key in the signal',
    )
  }
  if (!columns.some(({ name }) => name === surrogateKey)) {
    throw new UnreadableTable(`it has no column ${surrogateKey}, which the signal names as surrogate-key`)
  }
  // Several rows may have the same value of the column. Without the key, a chunk that ends among them would skip the others.
  const others = isComplete ? keyNames.filter((name) => name !== surrogateKey) : []
  return [surrogateKey, ...others]
}

/** The key of the last row; undefined if there are no rows. */
export function lastKeyOf(
  { table: { columns }, orderNames }: ChunkPlan<IdentifiedTable>,
  rows: ReadChunk['rows'],
): ChunkKey | undefined {
  const last = rows.at(-1)
  return last && orderNames.map((wanted) => String(last[columns.findIndex(({ name }) => name === wanted)]))
}
