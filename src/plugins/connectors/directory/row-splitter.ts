const LF = 10
const CR = 13
/** How much of a row that is too long is told. */
const EXCERPT_BYTES = 1_000

/** A row without its end. Where it starts in the whole input, and behind which byte it ends, end included. */
export type TextRow = {
  readonly text: string
  readonly start: number
  readonly position: number
  readonly isTooLong?: true
}

export type RowSplitterOptions = {
  /** Where the first byte is in the whole input. */
  readonly position: number
  /** Line ends between two of these belong to the row. */
  readonly quote?: string | undefined
  readonly rowBytesMax: number
}

/**
 * Cuts bytes into rows that end in `\n` or `\r\n`. What is held is at most a row and a chunk: of a longer row an excerpt is
 * given. A quote that is not closed within a row's length, or at all, costs the line that it stands in and no other one.
 */
export class RowSplitter {
  readonly #quote: number | undefined
  readonly #rowBytesMax: number
  #buffer: Buffer = Buffer.alloc(0)
  /** Where the buffer begins in the whole input. */
  #position: number
  /** Where the row that comes next begins there. */
  #start: number
  /** Up to where line ends were looked for. */
  #scanned = 0
  #isQuoted = false
  /** Behind the first line of a row that has several. */
  #firstEnd = 0
  /** The beginning of a row that is too long and not over yet. */
  #excerpt: string | undefined

  constructor({ position, quote, rowBytesMax }: RowSplitterOptions) {
    this.#position = position
    this.#start = position
    this.#quote = quote?.charCodeAt(0)
    this.#rowBytesMax = rowBytesMax
  }

  /** The rows that are whole with these bytes. */
  push(chunk: Buffer): TextRow[] {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk])
    const rows = [...this.#whole()]
    while (this.#buffer.length > this.#rowBytesMax) {
      if (this.#isQuoted && this.#firstEnd > 0) rows.push(this.#take(this.#firstEnd), ...this.#whole())
      else {
        this.#leaveOut(this.#buffer.length)
        this.#drop(this.#buffer.length)
      }
    }
    return rows
  }

  /** What is left when the input is over. */
  end(): TextRow[] {
    const rows: TextRow[] = []
    while (this.#isQuoted && this.#firstEnd > 0) rows.push(this.#take(this.#firstEnd), ...this.#whole())
    if (this.#buffer.length > 0 || this.#excerpt !== undefined) rows.push(this.#take(this.#buffer.length))
    return rows
  }

  *#whole(): Generator<TextRow> {
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
    if (end > this.#rowBytesMax) this.#leaveOut(end)
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

  #leaveOut(end: number): void {
    this.#excerpt ??= this.#textUpTo(Math.min(end, EXCERPT_BYTES))
  }

  #drop(bytes: number): void {
    this.#buffer = this.#buffer.subarray(bytes)
    this.#position += bytes
    this.#scanned = 0
    this.#firstEnd = 0
  }
}
