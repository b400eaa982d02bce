/** Debezium's `source.snapshot` of rows of a snapshot that no signal has requested. */
export type SnapshotMarker = 'true' | 'first' | 'first_in_data_collection' | 'last_in_data_collection' | 'last'

/** Rows of one table, with the marker of the first and of the last of them. The others have the marker `true`. */
export type MarkedRows<Batch> = {
  readonly batch: Batch
  readonly first: SnapshotMarker
  readonly last: SnapshotMarker
}

type Held<Batch> = { readonly batch: Batch; readonly rows: number; first: SnapshotMarker; last: SnapshotMarker }

/**
 * Marks the first and the last rows of tables and of the snapshot. Parts of several tables may be added in any order. The
 * newest batch of each table is held until it is known whether another one follows.
 */
export class RowSequence<Table, Batch> {
  readonly #release: (marked: MarkedRows<Batch>) => void
  readonly #held = new Map<Table, Held<Batch>>()
  /** The last batch of the table that ended last, until other rows follow. */
  #ended: Held<Batch> | undefined
  readonly #started = new Set<Table>()
  readonly #firstTable: Table | undefined

  /** `firstTable` has the first row of the snapshot, if it has rows; undefined after a restart. */
  constructor(firstTable: Table | undefined, release: (marked: MarkedRows<Batch>) => void) {
    this.#firstTable = firstTable
    this.#release = release
  }

  add(table: Table, batch: Batch, rows: number): void {
    if (rows === 0) return
    this.#releaseHeld(this.#ended)
    this.#ended = undefined
    const first = this.#firstMarker(table)
    this.#started.add(table)
    this.#releaseHeld(this.#held.get(table))
    this.#held.set(table, { batch, rows, first, last: 'true' })
  }

  /** No more rows of the table follow. */
  endTable(table: Table): void {
    const held = this.#held.get(table)
    if (held === undefined) return
    this.#held.delete(table)
    held.last = 'last_in_data_collection'
    this.#releaseHeld(this.#ended)
    this.#ended = held
  }

  /** No more rows follow. All tables have ended. */
  end(): void {
    if (this.#ended !== undefined) this.#ended.last = 'last'
    this.#releaseHeld(this.#ended)
    this.#ended = undefined
  }

  #releaseHeld(held: Held<Batch> | undefined): void {
    if (held === undefined) return
    const single = singleMarker(held)
    const [first, last] = held.rows === 1 ? [single, single] : [held.first, held.last]
    this.#release({ batch: held.batch, first, last })
  }

  #firstMarker(table: Table): SnapshotMarker {
    if (this.#started.has(table)) return 'true'
    return table === this.#firstTable ? 'first' : 'first_in_data_collection'
  }
}

/** A row that is the first and the last has one marker. That of the snapshot is preferred to that of the table. */
function singleMarker({ first, last }: Held<unknown>): SnapshotMarker {
  if (last === 'true') return first
  return first === 'first' && last !== 'last' ? first : last
}
