/** Bytes of a message before its content: the type and the length. */
export const ROW_HEADER_BYTES = 5

/**
 * Splits the bytes of a connection into messages, and passes on all but those of one type, which contain rows. The headers of
 * these become NUL characters, and consecutive ones are reported together, so that many rows are decoded at once.
 */
export class MessageFrames {
  readonly #rowType: number
  readonly #passOn: (bytes: Buffer) => void
  readonly #onRows: (bytes: Buffer, count: number) => void
  /** The chunks of an incomplete message. */
  #parts: Buffer[] = []
  #partsBytes = 0
  /** Bytes that are needed before the message can be read. */
  #neededBytes = 0

  /** `rowType`: type byte of the protocol messages that contain rows. `onRows` receives consecutive ones, and their number. */
  constructor(rowType: number, passOn: (bytes: Buffer) => void, onRows: (bytes: Buffer, count: number) => void) {
    this.#rowType = rowType
    this.#passOn = passOn
    this.#onRows = onRows
  }

  push(arrived: Buffer): void {
    const bytes = this.#joined(arrived)
    if (bytes === undefined) return
    let at = 0
    let rowsStart = 0
    let count = 0
    while (at + ROW_HEADER_BYTES <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      if (bytes[at] === this.#rowType) {
        for (let index = at; index < at + ROW_HEADER_BYTES; index++) bytes[index] = 0
        count += 1
      } else {
        this.#emit(bytes.subarray(rowsStart, at), count)
        this.#passOn(bytes.subarray(at, end))
        rowsStart = end
        count = 0
      }
      at = end
    }
    this.#emit(bytes.subarray(rowsStart, at), count)
    this.#keep(bytes.subarray(at))
  }

  /** Returns the kept chunks together with the new one; undefined if the message is still incomplete. */
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

  /** Passes on the chunks of an incomplete message. */
  flush(): void {
    if (this.#partsBytes > 0) this.#passOn(Buffer.concat(this.#parts))
    this.#parts = []
    this.#partsBytes = 0
  }

  #emit(bytes: Buffer, count: number): void {
    if (count > 0) this.#onRows(bytes, count)
  }
}
