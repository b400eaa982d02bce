import type { Socket } from 'node:net'
import { type ConnectionKeyNames, toDatabaseError } from './database-error.ts'
import { MessageFrames } from './message-frames.ts'

/** Rows of this many bytes may wait for the reader. Then the socket is paused, and TCP stops the server. */
const WAITING_BYTES_MAX = 1 << 20
/** Maximum number of rows that the iterator decodes at once. */
const ROWS_MAX = 1_000

/** A column of a query result, as described by the server. */
export type ResultField = {
  readonly name: string
  /** OID of the column's type. */
  readonly typeId: number
  /** Type modifier (precision, scale or length, encoded as the type defines it); -1 if there is none. */
  readonly modifier: number
  /** OID of the table that the column belongs to; 0 if the column is computed. */
  readonly tableId: number
  readonly columnId: number
}

/** A column as the client library describes it. */
type FieldDescription = {
  readonly name: string
  readonly dataTypeID: number
  readonly dataTypeModifier: number
  readonly tableID: number
  readonly columnID: number
}

export type DecodedRows<Rows> = {
  readonly rows: Rows
  readonly count: number
  /** Number of bytes that were decoded. */
  readonly end: number
}

export type RowStatement<Rows> = {
  /** Completes "could not …" in error messages. */
  readonly operation: string
  readonly text: string
  readonly values: readonly string[]
  /** Type byte of the protocol messages that contain rows. */
  readonly rowType: number
  /**
   * Decodes consecutive messages, whose headers were replaced by NUL characters, up to about `rowsMax`. It may overwrite the bytes
   * that it decodes. If it throws, the stream fails.
   */
  readonly decode: (bytes: Buffer, rowsMax: number) => DecodedRows<Rows>
  readonly keyNames: ConnectionKeyNames | undefined
}

/** What is used of a connection of the client library. */
type ClientConnection = {
  readonly stream: Socket
  parse(statement: { readonly name: string; readonly text: string; readonly types: readonly number[] }): void
  bind(portal: { readonly portal: string; readonly statement: string; readonly values: readonly string[] }): void
  describe(described: { readonly type: 'P'; readonly name: string }): void
  execute(portal: { readonly portal: string; readonly rows: number }): void
  sync(): void
}

/** Consecutive messages that contain rows. */
type UndecodedRows = { readonly bytes: Buffer; readonly count: number }

/**
 * The rows of a statement. It reads the messages that contain rows from the socket itself, because the client library would
 * create several objects for each of them, and passes on all other messages. Rows are decoded when they are read: texts that
 * wait for the reader would be copied by each collection of the young generation. When the reader is slow, the socket is
 * paused. A connection must be closed if the stream is not read to its end.
 */
export class RowStream<Rows> implements AsyncIterable<Rows> {
  readonly #statement: RowStatement<Rows>
  #fields: readonly ResultField[] = []
  #undecoded: UndecodedRows[] = []
  #undecodedCount = 0
  #undecodedBytes = 0
  #socket: Socket | undefined
  #isOver = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(statement: RowStatement<Rows>) {
    this.#statement = statement
  }

  /** The columns of a query. They are known when its first row is. */
  get fields(): readonly ResultField[] {
    return this.#fields
  }

  /** Reads rows until the statement ends. Throws a `DatabaseError` if the server or the connection ends it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Rows> {
    for (;;) {
      const rows = await this.read(1, ROWS_MAX)
      if (rows === undefined) return
      yield rows
    }
  }

  /**
   * Returns the next rows, or undefined at the end. Waits for `rowsMin`, unless they are large. Throws a `DatabaseError` after the
   * rows before it.
   */
  async read(rowsMin: number, rowsMax: number): Promise<Rows | undefined> {
    while (this.#undecodedCount < rowsMin && !this.#isFull && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const rows = this.#undecodedCount === 0 ? undefined : this.#decode(rowsMax)
    const { operation, keyNames } = this.#statement
    if (rows === undefined && this.#failure !== undefined) throw toDatabaseError(this.#failure, operation, keyNames)
    if (!this.#isFull && this.#socket?.isPaused()) this.#socket.resume()
    return rows
  }

  get #isFull(): boolean {
    return this.#undecodedBytes >= WAITING_BYTES_MAX
  }

  /** Returns undefined if the next row cannot be decoded. The rows behind it are not returned. */
  #decode(rowsMax: number): Rows | undefined {
    const { bytes, count } = this.#takeUndecoded(rowsMax)
    try {
      const decoded = this.#statement.decode(bytes, rowsMax)
      const rest = { bytes: bytes.subarray(decoded.end), count: count - decoded.count }
      if (rest.count > 0) {
        this.#undecoded.unshift(rest)
        this.#count(rest, 1)
      }
      return decoded.rows
    } catch (error) {
      this.#undecoded = []
      this.#undecodedCount = 0
      this.handleError(error as Error)
      this.#socket?.destroy(error as Error)
      return undefined
    }
  }

  /** Joins messages that arrived separately until they have `rowsMax` rows, or more if they arrived together. */
  #takeUndecoded(rowsMax: number): UndecodedRows {
    let count = 0
    let taken = 0
    while (taken < this.#undecoded.length && count < rowsMax) count += this.#undecoded[taken++]!.count
    const parts = this.#undecoded.splice(0, taken)
    for (const part of parts) this.#count(part, -1)
    return { bytes: parts.length === 1 ? parts[0]!.bytes : Buffer.concat(parts.map(({ bytes }) => bytes)), count }
  }

  // The methods below are called by the client library.

  submit(connection: ClientConnection): void {
    const { text, values, rowType } = this.#statement
    const socket = connection.stream
    const [passOn] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    const frames = new MessageFrames(rowType, passOn!, (bytes, count) => this.#add({ bytes, count }))
    const onData = (bytes: Buffer) => {
      try {
        frames.push(bytes)
      } catch (error) {
        socket.destroy(error as Error)
      }
      if (this.#isOver) release()
      else if (this.#isFull) socket.pause()
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
    connection.parse({ name: '', text, types: [] })
    connection.bind({ portal: '', statement: '', values })
    connection.describe({ type: 'P', name: '' })
    connection.execute({ portal: '', rows: 0 })
    connection.sync()
  }

  handleRowDescription({ fields }: { readonly fields: readonly FieldDescription[] }): void {
    this.#fields = fields.map(toResultField)
  }

  handleError(error: Error): void {
    this.#failure ??= error
    // The message that ends a failed statement does not arrive on a lost connection.
    this.#end()
  }

  handleReadyForQuery(): void {
    this.#end()
  }

  handleCommandComplete(): void {}

  #add(rows: UndecodedRows): void {
    this.#undecoded.push(rows)
    this.#count(rows, 1)
    this.#notify()
  }

  #count({ bytes, count }: UndecodedRows, sign: 1 | -1): void {
    this.#undecodedBytes += sign * bytes.length
    this.#undecodedCount += sign * count
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

export function toResultField({
  name,
  dataTypeID,
  dataTypeModifier,
  tableID,
  columnID,
}: FieldDescription): ResultField {
  return { name, typeId: dataTypeID, modifier: dataTypeModifier, tableId: tableID, columnId: columnID }
}
