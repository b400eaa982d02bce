import { addAbortListener } from 'node:events'
import type { ConnectionOptions } from 'node:tls'
import { crc32, zstdDecompressSync } from 'node:zlib'
import { combineDatabaseErrors, DatabaseError } from '../../../jdbc/database-error.ts'
import { sslAttempts } from '../../client-options.ts'
import { toMysqlError } from '../../mysql-error.ts'
import { addressText, openSocket, type ServerAddress } from '../../open-socket.ts'
import { logInToServer, serverError } from '../../protocol/login.ts'
import { MysqlProtocolError, MysqlReader } from '../../protocol/mysql-reader.ts'
import { PacketStream } from '../../protocol/packet-stream.ts'
import type { MysqlSessionOptions } from '../../session.ts'
import {
  type BinlogEvent,
  EVENT_BYTES_MAX,
  EVENT_HEADER_BYTES,
  type EventData,
  readEventData,
  readHeader,
} from './binlog-event.ts'
import { EVENT } from './event-type.ts'
import { MysqlGtidSet, parseGtidSet } from './gtid-set.ts'

export type BinlogStart =
  | { readonly kind: 'position'; readonly file: string; readonly position: number }
  | { readonly kind: 'gtids'; readonly gtids: string }

export type BinlogStreamOptions = {
  readonly session: MysqlSessionOptions
  readonly isMariadb: boolean
  /** Identifies this reader to the server: another one with the same id is disconnected. */
  readonly serverId: number
  readonly start: BinlogStart
  /** Whether events of the server have a checksum until the first event that says it. */
  readonly hasChecksum: boolean
  /** Whether the server sends the statements of the changes, which MariaDB does on request only. */
  readonly includesStatements: boolean
  /** Interval of messages that the server sends while it has no events. */
  readonly heartbeatMs: number
}

/** An event with its place in the log. */
export type PlacedEvent = BinlogEvent & {
  /** Where the event begins. That of an event within a compressed transaction is where the transaction begins. */
  readonly position: number
  /** Where the next event begins. */
  readonly endPosition: number
}

const COM_QUERY = 0x03
const COM_BINLOG_DUMP = 0x12
const COM_REGISTER_SLAVE = 0x15
const COM_BINLOG_DUMP_GTID = 0x1e
const SENDS_STATEMENTS = 2
/** Where the events of a file begin. */
const FIRST_POSITION = 4
/** Above it, the command that requests the log has no place for a position. */
const POSITION_MAX = 0xff_ff_ff_ff
const CHECKSUM_BYTES = 4
const CRC32 = 1
/** Events that are returned at once. */
const EVENTS_MAX = 1_000
/** A server that sends nothing for so many intervals of heartbeats is not reachable. */
const SILENT_INTERVALS = 3

const OPERATION = 'read the binary log'

/** Reads the binary log of a server as a replica does. */
export class BinlogStream implements AsyncDisposable {
  /** Where the server is. */
  readonly address: ServerAddress
  readonly #packets: PacketStream
  readonly #options: BinlogStreamOptions
  readonly #abortListener: Disposable
  #hasChecksum: boolean
  #position: number = FIRST_POSITION
  #serverNumber: number | undefined
  #silence: NodeJS.Timeout | undefined
  #isSilent = false

  private constructor(address: ServerAddress, packets: PacketStream, options: BinlogStreamOptions) {
    this.address = address
    this.#packets = packets
    this.#options = options
    this.#hasChecksum = options.hasChecksum
    this.#abortListener = addAbortListener(options.session.signal, () => packets.stream.destroy())
  }

  /** Connects to the first host that accepts the connection, and requests the log. Rejects with a `DatabaseError`. */
  static async open(options: BinlogStreamOptions): Promise<BinlogStream> {
    const { url, access, keyNames } = options.session
    const places: readonly ServerAddress[] = url.socketPath === undefined ? url.hosts : [{ path: url.socketPath }]
    const failures: DatabaseError[] = []
    for (const place of places) {
      const attempts = 'path' in place ? [false as const] : sslAttempts(url, access)
      for (const [index, tls] of attempts.entries()) {
        try {
          return await BinlogStream.#openAt(place, tls, options)
        } catch (error) {
          if (index < attempts.length - 1 && /SSL|TLS|EPROTO/.test(String((error as Error).message))) continue
          failures.push(toMysqlError(error, `${OPERATION} of the database at ${addressText(place)}`, keyNames))
          break
        }
      }
    }
    throw combineDatabaseErrors(failures)
  }

  static async #openAt(
    place: ServerAddress,
    tls: ReturnType<typeof sslAttempts>[number],
    options: BinlogStreamOptions,
  ): Promise<BinlogStream> {
    const { session } = options
    const socket = openSocket(place, session.access)
    socket.setTimeout(session.url.connectTimeoutMs, () => socket.destroy(timeoutError(session.url.connectTimeoutMs)))
    const stream = new BinlogStream(place, new PacketStream(socket, EVENT_BYTES_MAX), options)
    try {
      await logInToServer(stream.#packets, {
        user: session.user ?? session.url.user ?? '',
        password: session.password ?? session.url.password ?? '',
        allowsPublicKeyRetrieval: session.url.allowsPublicKeyRetrieval,
        isLocal: 'path' in place,
        host: 'path' in place ? undefined : place.host,
        tls: tls === false ? undefined : tlsOptions(tls),
      })
      await stream.#request()
      socket.setTimeout(0)
      stream.#listen()
      return stream
    } catch (error) {
      await stream[Symbol.asyncDispose]()
      throw error
    }
  }

  /** The `server_id` of the server, from the description of its log; undefined before that was read. */
  get serverNumber(): number | undefined {
    return this.#serverNumber
  }

  /** Lets `read` yield an empty array soon if there are no events. */
  requestPosition(): void {
    this.#packets.interrupt()
  }

  /** Yields the events in their order, in arrays as they arrive. Ends when the signal of the session is aborted. */
  async *read(): AsyncGenerator<readonly PlacedEvent[]> {
    const { signal, keyNames } = this.#options.session
    try {
      for (;;) {
        const events: PlacedEvent[] = []
        const first = await this.#packets.readUntilInterrupt()
        if (first === undefined) {
          yield events
          continue
        }
        this.#receive(first, events)
        this.#silence?.refresh()
        for (let packet = this.#nextPacket(events); packet !== undefined; packet = this.#nextPacket(events)) {
          this.#receive(packet, events)
        }
        // A compressed transaction is one packet, with any number of events.
        for (let at = 0; at < events.length; at += EVENTS_MAX) yield events.slice(at, at + EVENTS_MAX)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof MysqlProtocolError) throw error
      if (this.#isSilent) throw silentError(this.#options.heartbeatMs)
      throw lostError(toMysqlError(error, OPERATION, keyNames))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abortListener[Symbol.dispose]()
    clearInterval(this.#silence)
    this.#packets.stream.destroy()
  }

  #nextPacket(events: readonly PlacedEvent[]): Buffer | undefined {
    return events.length < EVENTS_MAX ? this.#packets.tryRead() : undefined
  }

  #listen(): void {
    this.#silence = setInterval(() => {
      // A reader that does not ask for events says nothing about the server.
      if (this.#packets.stream.readableLength > 0) return
      this.#isSilent = true
      this.#packets.stream.destroy()
    }, this.#options.heartbeatMs * SILENT_INTERVALS)
  }

  async #request(): Promise<void> {
    const { isMariadb, heartbeatMs, start } = this.#options
    const heartbeatNs = BigInt(heartbeatMs) * 1_000_000n
    await this.#run(
      'SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum',
    )
    await this.#run(`SET @master_heartbeat_period = ${heartbeatNs}, @source_heartbeat_period = ${heartbeatNs}`)
    await this.#run('SET net_write_timeout = 3600')
    if (isMariadb) {
      await this.#run('SET @mariadb_slave_capability = 4')
      if (start.kind === 'gtids') {
        const state = parseGtidSet(start.gtids, true)
        await this.#run(`SET @slave_connect_state = '${state}', @slave_gtid_strict_mode = 0`)
      }
    }
    await this.#register()
    this.#packets.resetSequence()
    this.#packets.write(this.#dumpCommand())
  }

  #dumpCommand(): Buffer {
    const { isMariadb, serverId, start, includesStatements } = this.#options
    if (start.kind === 'gtids' && !isMariadb) return gtidDump(serverId, MysqlGtidSet.parse(start.gtids))
    const { file, position } = start.kind === 'gtids' ? { file: '', position: FIRST_POSITION } : start
    if (position > POSITION_MAX) {
      throw new Error(
        `the position ${position} of ${file} is above 4 GB, which only a server with GTIDs can continue from: set gtid_mode=ON, or take a new snapshot`,
      )
    }
    this.#position = position
    const head = Buffer.alloc(11)
    head[0] = COM_BINLOG_DUMP
    head.writeUInt32LE(position, 1)
    head.writeUInt16LE(isMariadb && includesStatements ? SENDS_STATEMENTS : 0, 5)
    head.writeUInt32LE(serverId, 7)
    return Buffer.concat([head, Buffer.from(file)])
  }

  /** Shows this reader in `SHOW REPLICAS`. */
  async #register(): Promise<void> {
    const command = Buffer.alloc(18)
    command[0] = COM_REGISTER_SLAVE
    command.writeUInt32LE(this.#options.serverId, 1)
    await this.#command(command)
  }

  #run(sql: string): Promise<void> {
    return this.#command(Buffer.concat([Buffer.from([COM_QUERY]), Buffer.from(sql)]))
  }

  async #command(payload: Buffer): Promise<void> {
    this.#packets.resetSequence()
    this.#packets.write(payload)
    const answer = await this.#packets.read()
    if (answer[0] === 0xff) throw serverError(answer)
  }

  #receive(packet: Buffer, events: PlacedEvent[]): void {
    if (packet[0] === 0xff) throw serverError(packet)
    if (packet[0] === 0xfe && packet.length < 9)
      throw new Error('the connection was closed: the server ended the binary log')
    if (packet[0] !== 0) throw new MysqlProtocolError('a packet of the binary log has an unknown form')
    try {
      this.#receiveEvent(packet.subarray(1), events)
    } catch (error) {
      if (error instanceof MysqlProtocolError) throw error
      const reason = (error as Error).message
      throw new MysqlProtocolError(
        `an event after position ${this.#position} of the binary log cannot be read: ${reason}`,
      )
    }
  }

  #receiveEvent(bytes: Buffer, events: PlacedEvent[]): void {
    const header = readHeader(bytes)
    if (header.type === EVENT.formatDescription) {
      this.#hasChecksum = hasChecksum(bytes)
      this.#serverNumber = header.serverId
    }
    const end = this.#hasChecksum ? bytes.length - CHECKSUM_BYTES : bytes.length
    if (end < EVENT_HEADER_BYTES) throw new MysqlProtocolError('an event of the binary log is shorter than its header')
    if (this.#hasChecksum && bytes.readUInt32LE(end) !== crc32(bytes.subarray(0, end))) {
      throw new MysqlProtocolError(
        `the event before position ${header.nextPosition} of the binary log is damaged: its checksum is wrong`,
      )
    }
    const body = bytes.subarray(EVENT_HEADER_BYTES, end)
    const place = this.#placeOf(header.nextPosition, header.bytes)
    if (header.type === EVENT.transactionPayload) {
      for (const inner of innerEvents(body)) events.push({ ...inner, ...place })
      return
    }
    const data: EventData = readEventData(header, body)
    if (data.kind === 'rotate') this.#position = data.position
    events.push({ header, data, ...place })
  }

  /** Positions in a file above 4 GB have more bits than an event has for them. */
  #placeOf(nextPosition: number, bytes: number): { readonly position: number; readonly endPosition: number } {
    if (nextPosition === 0) return { position: this.#position, endPosition: this.#position }
    const high = Math.floor(this.#position / 2 ** 32) * 2 ** 32
    const end = high + nextPosition < this.#position ? high + 2 ** 32 + nextPosition : high + nextPosition
    this.#position = end
    return { position: end - bytes, endPosition: end }
  }
}

const ALGORITHM_BEFORE_END = 5

function hasChecksum(formatDescription: Buffer): boolean {
  return formatDescription[formatDescription.length - ALGORITHM_BEFORE_END] === CRC32
}

const FIELDS_END = 0
const COMPRESSION = 2
const ZSTD = 0

/** The events of a compressed transaction, which have no checksums. */
function innerEvents(body: Buffer): readonly BinlogEvent[] {
  const reader = new MysqlReader(body, 'a compressed transaction')
  let compression = ZSTD
  for (let type = reader.lengthEncoded(); type !== FIELDS_END; type = reader.lengthEncoded()) {
    const field = new MysqlReader(reader.view(reader.lengthEncoded()), 'a compressed transaction')
    if (type === COMPRESSION) compression = field.lengthEncoded()
  }
  const payload = reader.rest()
  const bytes = compression === ZSTD ? zstdDecompressSync(payload, { maxOutputLength: EVENT_BYTES_MAX }) : payload
  const events: BinlogEvent[] = []
  for (let at = 0; at < bytes.length; ) {
    const header = readHeader(bytes.subarray(at))
    if (header.bytes < EVENT_HEADER_BYTES || at + header.bytes > bytes.length) throw reader.fault('is damaged')
    events.push({ header, data: readEventData(header, bytes.subarray(at + EVENT_HEADER_BYTES, at + header.bytes)) })
    at += header.bytes
  }
  return events
}

function gtidDump(serverId: number, gtids: MysqlGtidSet): Buffer {
  const data = gtids.encode()
  const head = Buffer.alloc(23)
  head[0] = COM_BINLOG_DUMP_GTID
  head.writeUInt32LE(serverId, 3)
  head.writeBigUInt64LE(BigInt(FIRST_POSITION), 11)
  head.writeUInt32LE(data.length, 19)
  return Buffer.concat([head, data])
}

function tlsOptions({
  verifyIdentity,
  ...options
}: Exclude<ReturnType<typeof sslAttempts>[number], false>): ConnectionOptions {
  return { ...(options as ConnectionOptions), ...(!verifyIdentity && { checkServerIdentity: () => undefined }) }
}

function timeoutError(timeoutMs: number): Error {
  return Object.assign(new Error(`the server has not answered for ${timeoutMs} ms`), { code: 'ETIMEDOUT' })
}

/** `ER_MASTER_FATAL_ERROR_READING_BINLOG`. */
const FATAL_ERROR_READING_BINLOG = 1236

function lostError(error: DatabaseError): DatabaseError {
  if (error.errno !== FATAL_ERROR_READING_BINLOG) return error
  const isReplaced = /same server_(?:uuid|id)/i.test(error.message)
  const remedy = isReplaced
    ? 'give each connector and replica its own database.server.id'
    : 'the server has purged or never had this position: take a new snapshot (snapshot.mode=when_needed does it), or restore the log'
  return new DatabaseError(`${error.message}; ${remedy}`, {
    isTransient: isReplaced,
    errno: error.errno,
    sqlState: error.sqlState,
  })
}

function silentError(heartbeatMs: number): DatabaseError {
  const message = `could not ${OPERATION}: the server has sent nothing for ${(heartbeatMs * SILENT_INTERVALS) / 1000} s; check that it is reachable`
  return new DatabaseError(message, { isTransient: true })
}
