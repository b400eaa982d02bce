import type { Socket } from 'node:net'
import { type ConnectionKeyNames, toDatabaseError } from './database-error.ts'

/** One row of a COPY in text format: the cells, null for NULL. */
export type CopyRow = readonly (string | null)[]

/** Bytes of a message before its content: the type and the length. */
const HEADER_BYTES = 5
const COPY_DATA = 0x64
/** Rows of this many bytes may wait for the reader. Then the socket is paused, and TCP stops the server. */
const WAITING_BYTES_MAX = 1 << 20

/** What is used of a connection of the client library. */
type ClientConnection = {
  readonly stream: Socket
  parse(statement: { readonly name: string; readonly text: string; readonly types: readonly number[] }): void
  bind(portal: { readonly portal: string; readonly statement: string; readonly values: readonly string[] }): void
  execute(portal: { readonly portal: string; readonly rows: number }): void
  sync(): void
}

type Waiting = { readonly rows: readonly CopyRow[]; readonly bytes: number }

/**
 * The rows of `COPY … TO STDOUT`. It takes the messages with rows from the socket before the client library does, because
 * the library creates several objects for each of them; all other messages are passed on. Rows are read by iteration; when
 * the reader is slow, the socket is paused. A copy that is not read to its end leaves the connection unusable: close it.
 */
export class CopyOut implements AsyncIterable<readonly CopyRow[]> {
  readonly #text: string
  readonly #operation: string
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  #socket: Socket | undefined
  #isOver = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  readonly #keyNames: ConnectionKeyNames | undefined

  constructor(operation: string, text: string, keyNames?: ConnectionKeyNames) {
    this.#keyNames = keyNames
    this.#operation = operation
    this.#text = text
  }

  /** Reads rows until the copy ends. Throws a `DatabaseError` if the server or the connection ends it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly CopyRow[]> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        this.#waitingBytes -= next.bytes
        if (this.#waitingBytes < WAITING_BYTES_MAX && this.#socket?.isPaused()) this.#socket.resume()
        yield next.rows
      } else if (this.#isOver) {
        if (this.#failure !== undefined) throw toDatabaseError(this.#failure, this.#operation, this.#keyNames)
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  // The methods below are called by the client library.

  submit(connection: ClientConnection): void {
    const socket = connection.stream
    const [passOn] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    const frames = new CopyFrames(passOn!, (rows, bytes) => this.#add(rows, bytes))
    const onData = (bytes: Buffer) => {
      try {
        frames.push(bytes)
      } catch (error) {
        socket.destroy(error as Error)
      }
      if (this.#isOver) release()
      else if (this.#waitingBytes >= WAITING_BYTES_MAX) socket.pause()
    }
    const release = () => {
      socket.off('data', onData)
      socket.on('data', passOn!)
      this.#socket = undefined
      frames.flush()
    }
    socket.off('data', passOn!)
    socket.on('data', onData)
    this.#socket = socket
    // The extended protocol executes one statement only, so a SELECT of a user cannot contain others behind it.
    connection.parse({ name: '', text: this.#text, types: [] })
    connection.bind({ portal: '', statement: '', values: [] })
    connection.execute({ portal: '', rows: 0 })
    connection.sync()
  }

  handleError(error: Error): void {
    this.#failure ??= error
    // The message that ends a failed copy does not arrive on a lost connection.
    this.#end()
  }

  handleReadyForQuery(): void {
    this.#end()
  }

  handleCommandComplete(): void {}

  handleRowDescription(): void {}

  #add(rows: readonly CopyRow[], bytes: number): void {
    this.#waiting.push({ rows, bytes })
    this.#waitingBytes += bytes
    this.#notify()
  }

  #end(): void {
    this.#isOver = true
    this.#notify()
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

/** Splits the bytes of a connection into messages, and rows out of those that contain rows. */
export class CopyFrames {
  readonly #passOn: (bytes: Buffer) => void
  readonly #onRows: (rows: readonly CopyRow[], bytes: number) => void
  /** The beginning of a message whose end has not arrived, in the parts in which it arrived. */
  #parts: Buffer[] = []
  #partsBytes = 0
  /** Bytes that are needed before the message can be read. */
  #neededBytes = 0

  constructor(passOn: (bytes: Buffer) => void, onRows: (rows: readonly CopyRow[], bytes: number) => void) {
    this.#passOn = passOn
    this.#onRows = onRows
  }

  push(arrived: Buffer): void {
    const bytes = this.#joined(arrived)
    if (bytes === undefined) return
    let at = 0
    let rowsStart = 0
    while (at + HEADER_BYTES <= bytes.length) {
      const end = at + 1 + bytes.readUInt32BE(at + 1)
      if (end > bytes.length) break
      if (bytes[at] === COPY_DATA) {
        // A header becomes NUL characters, which values cannot contain, so that many rows are decoded at once.
        bytes.fill(0, at, at + HEADER_BYTES)
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
    this.#neededBytes = bytes.length < HEADER_BYTES ? HEADER_BYTES : 1 + bytes.readUInt32BE(1)
  }

  /** Passes on the beginning of a message that has not arrived as a whole. */
  flush(): void {
    if (this.#partsBytes > 0) this.#passOn(Buffer.concat(this.#parts))
    this.#parts = []
    this.#partsBytes = 0
  }

  #emit(bytes: Buffer, start: number, end: number): void {
    if (start === end) return
    this.#onRows(parseCopyRows(bytes.toString('utf8', start, end)), end - start)
  }
}

const BLANK_HEADER = '\0'.repeat(HEADER_BYTES)

/** Parses rows in text format, each behind five NUL characters and ended by a newline. */
function parseCopyRows(text: string): CopyRow[] {
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('the server sent a part of a row in a message of COPY')
  const toCells = text.includes('\\') ? parseEscapedRow : parseRow
  return lines.map((line) => {
    if (!line.startsWith(BLANK_HEADER)) throw new Error('the server sent several rows in a message of COPY')
    return toCells(line)
  })
}

function parseRow(line: string): string[] {
  return line.slice(HEADER_BYTES).split('\t')
}

function parseEscapedRow(line: string): CopyRow {
  const cells = parseRow(line)
  return line.includes('\\') ? cells.map(parseCell) : cells
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function parseCell(cell: string): string | null {
  if (!cell.includes('\\')) return cell
  return cell === '\\N' ? null : cell.replace(/\\(.)/gs, (_, letter: string) => ESCAPES[letter] ?? letter)
}
