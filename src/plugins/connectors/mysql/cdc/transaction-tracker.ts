import type { PlacedEvent } from './binlog/binlog-stream.ts'
import { type GtidSet, parseGtidSet } from './binlog/gtid-set.ts'
import type { BinlogPosition } from './position.ts'

/** Follows the binary log: in which transaction an event is, and from where to continue after it. */
export class TransactionTracker {
  #file: string
  /** From where to continue: the begin of the open transaction, or the end of the last one. */
  #restart: number
  #events = 0
  /** Undefined if the transactions before the start are not known by their ids. */
  #gtids: GtidSet | undefined
  /** As offsets have it: each row has an offset, and a set may have many intervals. */
  #gtidsText: string | undefined
  /** The set with the open transaction. */
  #nextGtids: GtidSet | undefined
  #timestampS: number | undefined
  #serverId: number | undefined
  #committedAtUs: bigint | undefined
  #eventUs = 0n
  /** Where the present event begins. */
  #begins = 0
  /** Where the server waits for more events, outside of transactions. */
  #idle = 0
  isOpen = false
  /** Whether the transaction ends with its statement. */
  isStandalone = false
  gtid: string | undefined
  threadId: number | undefined
  query: string | undefined
  /** The id of the open transaction in its metadata. */
  id = ''

  constructor(start: BinlogPosition, isMariadb: boolean) {
    this.#file = start.file
    this.#restart = start.position
    this.#gtids = start.gtids === undefined ? undefined : parseGtidSet(start.gtids, isMariadb)
    this.#gtidsText = this.#gtids?.toString()
    this.#timestampS = start.timestampS
    this.#serverId = start.serverId
  }

  get file(): string {
    return this.#file
  }

  get restart(): number {
    return this.#restart
  }

  /** Everything before this place of the log was delivered. */
  get delivered(): Pick<BinlogPosition, 'file' | 'position'> {
    return { file: this.#file, position: Math.max(this.#restart, this.isOpen ? 0 : this.#idle) }
  }

  /** The ids of the transactions that were delivered; undefined if they are not known. */
  get gtids(): string | undefined {
    return this.#gtidsText
  }

  /** Whether the log continues from this position. */
  isAt({ file, position }: BinlogPosition): boolean {
    return file === this.#file && position === this.#restart
  }

  /** When the change was made, in microseconds since 1970. */
  get timeUs(): bigint {
    return this.#eventUs
  }

  /** Call it with each event before it is processed. */
  enter({ header, position, endPosition }: PlacedEvent): void {
    this.#serverId = header.serverId
    if (header.timestampS > 0) {
      this.#timestampS = header.timestampS
      this.#eventUs = this.#committedAtUs ?? BigInt(header.timestampS) * 1_000_000n
    }
    // A server that begins at a GTID sends events of the begin of the file first.
    if (!this.isOpen && header.nextPosition > 0 && endPosition > this.#restart) {
      this.#restart = endPosition
      this.#events = 0
    }
    this.#begins = position
  }

  /** Call it with each message that the server has no more events. */
  wait(position: number): void {
    this.#idle = position
  }

  /** Call it with each event after it was processed. */
  leave(): void {
    this.#events += 1
  }

  rotate(file: string, position: number): void {
    if (file === this.#file && position < this.#restart) return
    this.#file = file
    this.#restart = position
    this.#idle = 0
    this.#events = 0
  }

  /** A transaction with this id follows or begins. */
  setGtid(gtid: string, committedAtUs: bigint | undefined): void {
    this.gtid = gtid
    this.#nextGtids = this.#gtids?.with(gtid)
    this.#committedAtUs = committedAtUs === 0n ? undefined : committedAtUs
    if (this.#committedAtUs !== undefined) this.#eventUs = this.#committedAtUs
  }

  begin(threadId: number | undefined): void {
    this.isOpen = true
    this.#restart = this.#begins
    this.#events = 0
    this.threadId = threadId
    this.id = this.gtid ?? `file=${this.#file},pos=${this.#restart}`
  }

  /** The open transaction, or the statement outside of one, is complete. */
  end(endPosition: number): void {
    if (this.#nextGtids !== undefined) {
      this.#gtids = this.#nextGtids
      this.#gtidsText = this.#gtids.toString()
    }
    this.#nextGtids = undefined
    this.#restart = endPosition
    this.#events = 0
    this.isOpen = false
    this.isStandalone = false
    this.threadId = undefined
    this.query = undefined
  }

  /** From where to continue when so many rows of the present event were delivered. */
  position(rows = 0): BinlogPosition {
    return {
      file: this.#file,
      position: this.#restart,
      gtids: this.#gtidsText,
      events: this.isOpen ? this.#events : 0,
      rows,
      timestampS: this.#timestampS,
      serverId: this.#serverId,
    }
  }
}
