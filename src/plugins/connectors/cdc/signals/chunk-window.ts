import type { Cell, IdentifiedTable, Row, RowImages } from '../table.ts'
import type { LogPosition, ObservedChange } from './chunk-session.ts'

type CompleteRow = readonly (string | null)[]

/** Keys that changed while the chunk is being read. With more of them, the chunk must be read before the stream continues. */
const KEYS_MAX = 100_000

/**
 * Rows of a chunk until the stream has passed the moment at which they were read. A row that changes in the meantime is
 * dropped, because the stream delivers what it is or will be; otherwise an older row could follow a newer one.
 */
export class ChunkWindow {
  readonly #tableId: IdentifiedTable['id']
  readonly #keyNames: readonly string[]
  /** Keys that changed; undefined when rows must be read again, because changes cannot be assigned to them. */
  #changed: Set<string> | undefined = new Set()
  #isTruncated = false
  #rows: Map<string, CompleteRow> | undefined
  #closePosition: LogPosition | undefined

  /** `keyNames`: columns that identify a row. The window opens now: before the chunk is read. */
  constructor(tableId: IdentifiedTable['id'], keyNames: readonly string[]) {
    this.#tableId = tableId
    this.#keyNames = keyNames
  }

  /** Whether no more changes may be delivered before the chunk is read. */
  get isFull(): boolean {
    return (this.#changed?.size ?? 0) > KEYS_MAX
  }

  /** Whether the chunk must be read again. */
  get isBroken(): boolean {
    return this.#changed === undefined
  }

  onChange(change: ObservedChange<IdentifiedTable>): void {
    if (change.kind === 'truncate' && change.tables.some(({ id }) => id === this.#tableId)) this.#truncate()
    if (change.kind !== 'row' || change.table.id !== this.#tableId || this.isBroken) return
    for (const row of [change.before, change.after]) {
      if (row === undefined) continue
      const key = this.#keyOf(change, row)
      if (key === undefined) this.#changed = undefined
      else this.#changed?.add(key)
      if (key !== undefined) this.#rows?.delete(key)
    }
  }

  /** The rows that were read, and the position of the log after which the window closes. */
  fill(table: IdentifiedTable, rows: readonly CompleteRow[], closePosition: LogPosition): void {
    const indexes = this.#keyNames.map((name) => table.columns.findIndex((column) => column.name === name))
    const byKey = new Map(rows.map((row) => [JSON.stringify(indexes.map((index) => row[index])), row]))
    for (const key of this.#changed ?? []) byKey.delete(key)
    this.#rows = this.#isTruncated ? new Map() : byKey
    this.#closePosition = closePosition
  }

  /** The remaining rows, when the stream has delivered everything before `delivered`; undefined until the window closes. */
  close(delivered: LogPosition): readonly CompleteRow[] | undefined {
    if (this.#closePosition === undefined || delivered < this.#closePosition || this.#rows === undefined)
      return undefined
    return [...this.#rows.values()]
  }

  #truncate(): void {
    this.#isTruncated = true
    this.#rows?.clear()
  }

  /** Undefined if the row does not contain the key: its column was renamed or dropped, or its value is stored out of line. */
  #keyOf({ table, before, isBeforeKeyOnly }: RowImages<IdentifiedTable>, row: Row): string | undefined {
    const cells: (Cell | undefined)[] = this.#keyNames.map(
      (name) => row[table.columns.findIndex((column) => column.name === name)],
    )
    if (cells.some((cell) => typeof cell !== 'string' && cell !== null)) return undefined
    // The old row may contain the columns of the replica identity only, which need not be those of the key.
    if (row === before && isBeforeKeyOnly && cells.includes(null)) return undefined
    return JSON.stringify(cells)
  }
}
