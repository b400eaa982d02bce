import type { RowBatch } from '../jdbc/row-cursor.ts'
import type { RowTexts } from '../jdbc/row-texts.ts'
import type { MysqlField } from './mysql-field.ts'

/** The connection is paused when so many rows, or characters of them, were received that nobody has asked for yet. */
const ROWS_MAX = 250
const CHARACTERS_MAX = 1 << 20

/** Stops and continues the stream of rows from the server. */
type Flow = { readonly pause: () => void; readonly resume: () => void }

/** Rows that a server sends as fast as it can, for a reader that takes them at its own speed. */
export class ReceivedRows {
  readonly #flow: Flow
  #fields: readonly MysqlField[] = []
  #rows: RowTexts[] = []
  #characters = 0
  #wanted = 0
  #isPaused = false
  #isOver = false
  #failure: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  constructor(flow: Flow) {
    this.#flow = flow
  }

  setFields(fields: readonly MysqlField[]): void {
    this.#fields = fields
  }

  add(row: RowTexts): void {
    this.#rows.push(row)
    for (let column = 0; column < row.length; column++) this.#characters += row[column]?.length ?? 0
    if (this.#rows.length < this.#wanted) return
    if (this.#wanted > 0) this.#wake?.()
    if (this.#rows.length < ROWS_MAX && this.#characters < CHARACTERS_MAX) return
    this.#isPaused = true
    this.#flow.pause()
  }

  end(): void {
    this.#isOver = true
    this.#wake?.()
  }

  fail(error: unknown): void {
    if (this.#isOver) return
    this.#failure ??= { error }
    this.#wake?.()
  }

  /** Returns the next rows; fewer than `count` at the end. Throws the error that has ended the stream. */
  async read(count: number): Promise<RowBatch> {
    this.#wanted = count
    while (this.#rows.length < count && !this.#isOver && this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
        this.#resume()
      })
    }
    this.#wanted = 0
    this.#wake = undefined
    if (this.#failure !== undefined) throw this.#failure.error
    const rows = this.#rows.splice(0, count)
    this.#characters = 0
    for (const row of this.#rows) for (const cell of row) this.#characters += cell?.length ?? 0
    if (this.#characters < CHARACTERS_MAX) this.#resume()
    return { rows, fields: this.#fields }
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#flow.resume()
  }
}
