import type { RowTexts } from './row-texts.ts'

/** A column of a result. Columns with equal ids have the same type. */
export type ResultField = { readonly name: string; readonly typeId: number }

/** Rows that are processed together, and the columns of the query. */
export type RowBatch = { readonly rows: readonly RowTexts[]; readonly fields: readonly ResultField[] }

/** Reads the next rows of a query; fewer than `rowsMax` at its end. */
type ReadRows = (rowsMax: number) => Promise<RowBatch>

/** A batch has no more rows when its texts have this many characters. */
const CHARACTERS_MAX = 1 << 20

/**
 * The rows of a query, in batches. While the caller processes one, the server sends the next one and then waits, so at most two are
 * in memory.
 */
export class RowCursor implements AsyncIterable<RowBatch> {
  readonly #read: ReadRows
  readonly #rowsMax: number
  #fields: readonly ResultField[] = []
  /** Expected characters of a row: those of the last rows. The first one may have any number, so it is requested alone. */
  #rowCharacters = CHARACTERS_MAX
  #isOver = false

  /** `rowsMax`: maximum number of rows in a batch. */
  constructor(read: ReadRows, rowsMax: number) {
    this.#read = read
    this.#rowsMax = rowsMax
  }

  /** Yields batches until the query ends. Throws a `DatabaseError` if the server or the connection ends it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<RowBatch> {
    for (let next = this.#readBatch(); ; ) {
      const rows = await next
      if (rows.length === 0) return
      next = this.#readBatch()
      // The caller may stop reading before it receives the error.
      next.catch(() => undefined)
      yield { rows, fields: this.#fields }
    }
  }

  async #readBatch(): Promise<readonly RowTexts[]> {
    let rows: readonly RowTexts[] = []
    let characters = 0
    while (rows.length < this.#rowsMax && characters < CHARACTERS_MAX && !this.#isOver) {
      const fitting = Math.floor((CHARACTERS_MAX - characters) / this.#rowCharacters)
      const wanted = Math.min(this.#rowsMax - rows.length, Math.max(1, fitting))
      const read = await this.#read(wanted)
      const readCharacters = charactersOf(read.rows)
      this.#fields = read.fields
      this.#isOver = read.rows.length < wanted
      this.#rowCharacters = Math.max(1, readCharacters / Math.max(1, read.rows.length))
      characters += readCharacters
      rows = rows.length === 0 ? read.rows : [...rows, ...read.rows]
    }
    return rows
  }
}

function charactersOf(rows: readonly RowTexts[]): number {
  let characters = 0
  for (const row of rows) {
    for (let column = 0; column < row.length; column++) characters += row[column]?.length ?? 0
  }
  return characters
}
