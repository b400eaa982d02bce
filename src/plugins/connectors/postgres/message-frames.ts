/** Bytes of a message before its content: the type and the length. */
export const ROW_HEADER_BYTES = 5

/**
 * Splits the bytes of a connection into messages, and passes on all but those of one type, which contain rows. The headers of
 * these become NUL characters, and consecutive ones are reported together, so that many rows are decoded at once.
 */
export class MessageFrames {
  readonly #rowType: number
  readonly #passOn: (bytes: Buffer) => void
  readonly #onRows: (bytes: Buffer) => void
  /** The beginning of a message whose end has not arrived, in the parts in which it arrived. */
  #parts: Buffer[] = []
  #partsBytes = 0
  /** Bytes that are needed before the message can be read. */
  #neededBytes = 0

  /** `rowType`: the first byte of the messages with rows. */
  constructor(rowType: number, passOn: (bytes: Buffer) => void, onRows: (bytes: Buffer) => void) {
    this.#rowType = rowType
    this.#passOn = passOn
    this.#onRows = onRows
  }

  push(arrived: Buffer): void {
    const bytes = this.#joined(arrived)
    if (bytes === undefined) return
    let at = 0
    let rowsStart = 0
    while (at + ROW_HEADER_BYTES <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      if (bytes[at] === this.#rowType) {
        for (let index = at; index < at + ROW_HEADER_BYTES; index++) bytes[index] = 0
      } else {
        this.#emit(bytes, rowsStart, at)
        this.#passOn(bytes.subarray(at, end))
        rowsStart = end
      }
      at = end
    }
    this.#emit(bytes, rowsStart, at)
    this.#keep(bytes.subarray(at))
  }

  /** The bytes that arrived, after those that were kept; undefined if they are not a whole message yet. */
  #joined(arrived: Buffer): Buffer | undefined {
    if (this.#partsBytes === 0) return arrived
    this.#parts.push(arrived)
    this.#partsBytes += arrived.length
    if (this.#partsBytes < this.#neededBytes) return undefined
    const bytes = Buffer.concat(this.#parts, this.#partsBytes)
    this.#parts = []
    this.#partsBytes = 0
    return bytes
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#parts = [bytes]
    this.#partsBytes = bytes.length
    this.#neededBytes = bytes.length < ROW_HEADER_BYTES ? ROW_HEADER_BYTES : 1 + bytes.readUInt32BE(1)
  }

  /** Passes on the beginning of a message that has not arrived as a whole. */
  flush(): void {
    if (this.#partsBytes > 0) this.#passOn(Buffer.concat(this.#parts))
    this.#parts = []
    this.#partsBytes = 0
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    if (start < end) this.#onRows(bytes.subarray(start, end))
  }
}
