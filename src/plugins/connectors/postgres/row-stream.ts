import type { Socket } from 'node:net'
import { type ConnectionKeyNames, toDatabaseError } from './database-error.ts'
import { MessageFrames } from './message-frames.ts'
import type { ReadRows, RowTexts } from './row-texts.ts'

/** Rows of this many bytes may wait for the reader. Then the socket is paused, and TCP stops the server. */
const WAITING_BYTES_MAX = 1 << 20
/** Maximum number of rows that the iterator returns at once. */
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

export type RowStatement = {
  /** Completes "could not …" in error messages. */
  readonly operation: string
  readonly text: string
  readonly values: readonly string[]
  /** Type byte of the protocol messages that contain rows. */
  readonly rowType: number
  /** Decodes the rows of these messages. */
  readonly readRows: ReadRows
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
export class RowStream implements AsyncIterable<readonly RowTexts[]> {
  readonly #statement: RowStatement
  #fields: readonly ResultField[] = []
  /** The rest of the rows that were decoded together. */
  #rows: RowTexts[] = []
  #undecoded: UndecodedRows[] = []
  #undecodedCount = 0
  #undecodedBytes = 0
  #socket: Socket | undefined
  #isOver = false
  #failure: Error | undefined
  #wake: (() => void) | undefined

  constructor(statement: RowStatement) {
    this.#statement = statement
  }

  /** The columns of a query. They are known when its first row is. */
  get fields(): readonly ResultField[] {
    return this.#fields
  }

  /** Reads rows until the statement ends. Throws a `DatabaseError` if the server or the connection ends it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly RowTexts[]> {
    for (;;) {
      const rows = await this.read(1, ROWS_MAX)
      if (rows.length === 0) return
      yield rows
    }
  }

  /**
   * Returns the next rows, or an empty array at the end. Waits for `rowsMin`, unless they are large. Throws a `DatabaseError`
   * after the rows before it.
   */
  async read(rowsMin: number, rowsMax: number): Promise<readonly RowTexts[]> {
    while (this.#rows.length + this.#undecodedCount < rowsMin && !this.#isFull && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    const rows = this.#rows
    this.#decode(rows, rowsMax)
    const { operation, keyNames } = this.#statement
    if (rows.length === 0 && this.#failure !== undefined) throw toDatabaseError(this.#failure, operation, keyNames)
    this.#rows = rows.length > rowsMax ? rows.splice(rowsMax) : []
    if (!this.#isFull && this.#socket?.isPaused()) this.#socket.resume()
    return rows
  }

  get #isFull(): boolean {
    return this.#undecodedBytes >= WAITING_BYTES_MAX
  }

  /** Appends rows until there are `rowsMax`, or more if they arrived together. */
  #decode(into: RowTexts[], rowsMax: number): void {
    while (into.length < rowsMax) {
      const next = this.#undecoded.shift()
      if (next === undefined) return
      this.#undecodedBytes -= next.bytes.length
      this.#undecodedCount -= next.count
      try {
        for (const row of this.#statement.readRows(next.bytes)) into.push(row)
      } catch (error) {
        // The rows behind those that cannot be decoded are not returned.
        this.#undecoded = []
        this.handleError(error as Error)
        this.#socket?.destroy(error as Error)
        return
      }
    }
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
    this.#undecodedBytes += rows.bytes.length
    this.#undecodedCount += rows.count
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

export function toResultField({
  name,
  dataTypeID,
  dataTypeModifier,
  tableID,
  columnID,
}: FieldDescription): ResultField {
  return { name, typeId: dataTypeID, modifier: dataTypeModifier, tableId: tableID, columnId: columnID }
}
