/** Characters of the rows of a chunk, which are in memory until its window closes. */
const CHARACTERS_MAX = 16_000_000
/** Rows of the first chunk of a table, whose rows may have any size. */
const FIRST_ROWS_MAX = 64

/** Decides how many rows the next chunk has: `incremental.snapshot.chunk.size`, or fewer if the last rows were large. */
export class ChunkSize {
  readonly #rowsMax: number
  #rows: number

  constructor(rowsMax: number) {
    this.#rowsMax = rowsMax
    this.#rows = this.#first
  }

  get rows(): number {
    return this.#rows
  }

  /** Receives the rows of a chunk. */
  onRead(rows: readonly (readonly (string | null)[])[]): void {
    if (rows.length === 0) return
    let characters = 0
    for (const row of rows) for (const cell of row) characters += cell?.length ?? 0
    const fitting = Math.floor(CHARACTERS_MAX / Math.max(1, characters / rows.length))
    this.#rows = Math.max(1, Math.min(this.#rowsMax, fitting))
  }

  /** Call it at the beginning of a table. */
  reset(): void {
    this.#rows = this.#first
  }

  get #first(): number {
    return Math.min(this.#rowsMax, FIRST_ROWS_MAX)
  }
}
