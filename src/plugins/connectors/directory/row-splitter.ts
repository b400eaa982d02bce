const LF = 10
const CR = 13
/** Length of the excerpt of a row that is too long. */
const EXCERPT_BYTES = 1_000

/**
 * A row without its line end. `start` and `position` are the offsets of its first byte and after its line end in the
 * input.
 */
export type TextRow = {
  readonly text: string
  readonly start: number
  readonly position: number
  readonly isTooLong?: true
}

export type RowSplitterOptions = {
  /** Offset of the first byte in the input. */
  readonly position: number
  /** Line ends between two quotes belong to the row. */
  readonly quote?: string | undefined
  readonly rowBytesMax: number
}

/**
 * Splits bytes into rows that end in `\n` or `\r\n`. Holds at most one row and one chunk; of a longer row, only an
 * excerpt is returned. A quote that is not closed within the maximum row length, or at all, affects only its own line.
 */
export class RowSplitter {
  readonly #quote: number | undefined
  readonly #rowBytesMax: number
  #buffer: Buffer = Buffer.alloc(0)
  /** Offset of the buffer in the input. */
  #position: number
  /** Offset of the next row in the input. */
  #start: number
  /** Position in the buffer up to which line ends were searched. */
  #scanned = 0
  #isQuoted = false
  /** Position after the first line of a multi-line row; 0 if there is none. */
  #firstEnd = 0
  /** The beginning of a row that is too long and not complete yet. */
  #excerpt: string | undefined

  constructor({ position, quote, rowBytesMax }: RowSplitterOptions) {
    this.#position = position
    this.#start = position
    this.#quote = quote?.charCodeAt(0)
    this.#rowBytesMax = rowBytesMax
  }

  /** Adds bytes and returns the rows that are complete. */
  push(chunk: Buffer): TextRow[] {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    const rows = [...this.#completeRows()]
    while (this.#buffer.length > this.#rowBytesMax) {
      if (this.#isQuoted && this.#firstEnd > 0) rows.push(this.#take(this.#firstEnd), ...this.#completeRows())
      else {
        this.#keepExcerpt(this.#buffer.length)
        this.#drop(this.#buffer.length)
      }
    }
    return rows
  }

  /** Returns the remaining rows at the end of the input. */
  end(): TextRow[] {
    const rows: TextRow[] = []
    while (this.#isQuoted && this.#firstEnd > 0) rows.push(this.#take(this.#firstEnd), ...this.#completeRows())
    if (this.#buffer.length > 0 || this.#excerpt !== undefined) rows.push(this.#take(this.#buffer.length))
    return rows
  }

  *#completeRows(): Generator<TextRow> {
    for (let lf = this.#next(); lf >= 0; lf = this.#next()) {
      if (this.#hasOddQuotes(this.#scanned, lf)) this.#isQuoted = !this.#isQuoted
      this.#scanned = lf + 1
      const isLong = this.#scanned > this.#rowBytesMax && this.#firstEnd > 0
      if (!this.#isQuoted || this.#excerpt !== undefined) yield this.#take(isLong ? this.#firstEnd : this.#scanned)
      else if (this.#firstEnd === 0) this.#firstEnd = lf + 1
    }
  }

  #next(): number {
    return this.#buffer.indexOf(LF, this.#scanned)
  }

  #hasOddQuotes(from: number, to: number): boolean {
    if (this.#quote === undefined) return false
    const line = this.#buffer.subarray(from, to)
    let isOdd = false
    for (let at = line.indexOf(this.#quote); at >= 0; at = line.indexOf(this.#quote, at + 1)) isOdd = !isOdd
    return isOdd
  }

  #take(end: number): TextRow {
    if (end > this.#rowBytesMax) this.#keepExcerpt(end)
    const excerpt = this.#excerpt
    const text = excerpt ?? this.#textUpTo(end)
    this.#drop(end)
    const start = this.#start
    this.#start = this.#position
    this.#excerpt = undefined
    this.#isQuoted = false
    return { text, start, position: this.#position, ...(excerpt !== undefined && { isTooLong: true }) }
  }

  #textUpTo(end: number): string {
    if (this.#buffer[end - 1] !== LF) return this.#buffer.toString('utf8', 0, end)
    return this.#buffer.toString('utf8', 0, this.#buffer[end - 2] === CR ? end - 2 : end - 1)
  }

  #keepExcerpt(end: number): void {
    this.#excerpt ??= this.#textUpTo(Math.min(end, EXCERPT_BYTES))
  }

  #drop(bytes: number): void {
    this.#buffer = this.#buffer.subarray(bytes)
    this.#position += bytes
    this.#scanned = 0
    this.#firstEnd = 0
  }
}
