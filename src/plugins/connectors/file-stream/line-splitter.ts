const CHUNK_BYTES = 1024 * 1024
const LINE_BYTES_MAX = 64 * 1024 * 1024
const LF = 10
const CR = 13

/**
 * Splits bytes into lines that end in `\n`, `\r\n` or `\r`, and reports the position after each line. An incomplete
 * last line is kept until its end arrives. Bytes that are not UTF-8 become U+FFFD.
 */
export class LineSplitter {
  #buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  /** The range of buffered bytes that were not returned yet. */
  #start = 0
  #end = 0
  /** Indexes of the first `\r` and of the first `\n` at or after `#start`; -1 if there is none. */
  #cr = -1
  #lf = -1
  /** Position of `#start` in the input. */
  #position: number

  constructor(position: number) {
    this.#position = position
  }

  /** Position in the input of the next bytes to read. */
  get readPosition(): number {
    return this.#position + this.#end - this.#start
  }

  /**
   * Returns free space for the next bytes. Call `filled` after writing to it. Throws if a line exceeds the maximum
   * length.
   */
  room(): Buffer {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end)
      this.#end -= this.#start
      if (this.#cr >= 0) this.#cr -= this.#start
      if (this.#lf >= 0) this.#lf -= this.#start
      this.#start = 0
    }
    if (this.#end === this.#buffer.length) this.#grow()
    return this.#buffer.subarray(this.#end)
  }

  filled(bytes: number): void {
    const added = this.#buffer.subarray(this.#end, this.#end + bytes)
    if (this.#cr < 0) this.#cr = offsetBy(this.#end, added.indexOf(CR))
    if (this.#lf < 0) this.#lf = offsetBy(this.#end, added.indexOf(LF))
    this.#end += bytes
  }

  /** Returns at most `count` complete lines, each with the position after its end. */
  take<Item>(count: number, toItem: (line: string, position: number) => Item): Item[] {
    const items: Item[] = []
    const bytes = this.#buffer.subarray(0, this.#end)
    while (items.length < count) {
      const endsInCr = this.#cr >= 0 && (this.#lf < 0 || this.#cr < this.#lf)
      const lineEnd = endsInCr ? this.#cr : this.#lf
      // A `\r` at the end of the buffer may be the first half of `\r\n`.
      if (lineEnd < 0 || (endsInCr && lineEnd + 1 === this.#end)) break
      const next = lineEnd + (endsInCr && bytes[lineEnd + 1] === LF ? 2 : 1)
      const line = bytes.toString('utf8', this.#start, lineEnd)
      this.#moveTo(next, bytes)
      items.push(toItem(line, this.#position))
    }
    return items
  }

  /** Searches the rest only for the line end that was passed: a file may contain no other. */
  #moveTo(next: number, bytes: Buffer): void {
    this.#position += next - this.#start
    this.#start = next
    if (this.#cr >= 0 && this.#cr < next) this.#cr = bytes.indexOf(CR, next)
    if (this.#lf >= 0 && this.#lf < next) this.#lf = bytes.indexOf(LF, next)
  }

  #grow(): void {
    if (this.#buffer.length >= LINE_BYTES_MAX) {
      throw new Error(`the line at byte ${this.#position} is longer than ${LINE_BYTES_MAX} bytes`)
    }
    const larger = Buffer.allocUnsafe(this.#buffer.length * 2)
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }
}

function offsetBy(start: number, index: number): number {
  return index < 0 ? -1 : start + index
}
