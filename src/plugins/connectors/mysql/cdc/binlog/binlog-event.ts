import { inflateSync } from 'node:zlib'
import { MysqlReader } from '../../protocol/mysql-reader.ts'
import { EVENT, EVENTS_WITHOUT_CHANGES, IGNORABLE_FLAG, ROW_EVENTS, type RowOperation } from './event-type.ts'
import { readTableMap, type TableMap } from './table-map.ts'

/** What all events have. */
export type EventHeader = {
  /** Seconds since 1970; 0 for an event that is not in the log. */
  readonly timestampS: number
  readonly type: number
  readonly serverId: number
  /** Length of the event, with its header and its checksum. */
  readonly bytes: number
  /** The lower 32 bits of the position after the event; 0 for an event that is not in the log. */
  readonly nextPosition: number
  readonly flags: number
}

/** The rows of one event, which are decoded with its table. */
export type RowsData = {
  readonly op: RowOperation
  readonly tableId: number
  readonly columnCount: number
  /** Which columns the rows have. Only an update has both. */
  readonly presentBefore: Buffer | undefined
  readonly presentAfter: Buffer | undefined
  /** The rows, one after the other. */
  readonly rows: Buffer
}

export type EventData =
  | { readonly kind: 'rotate'; readonly file: string; readonly position: number }
  | { readonly kind: 'query'; readonly query: QueryData }
  | { readonly kind: 'commit' }
  | { readonly kind: 'table map'; readonly table: TableMap }
  | { readonly kind: 'rows'; readonly rows: RowsData }
  | { readonly kind: 'gtid'; readonly gtid: string; readonly committedAtUs: bigint | undefined }
  | { readonly kind: 'begin'; readonly gtid: string; readonly isStandalone: boolean }
  | { readonly kind: 'statement'; readonly text: string }
  | { readonly kind: 'heartbeat' }
  | { readonly kind: 'unsupported'; readonly reason: string }
  | { readonly kind: 'none' }

/** A statement that the log has as text: DDL, or the begin of a transaction. */
export type QueryData = {
  readonly threadId: number
  readonly database: string
  readonly sql: string
  /** The `sql_mode` of the session, which decides what a double quote is. */
  readonly sqlMode: bigint
}

export type BinlogEvent = { readonly header: EventHeader; readonly data: EventData }

export const EVENT_HEADER_BYTES = 19

export function readHeader(bytes: Buffer): EventHeader {
  const reader = new MysqlReader(bytes, 'an event of the binary log')
  return {
    timestampS: reader.uint32(),
    type: reader.uint8(),
    serverId: reader.uint32(),
    bytes: reader.uint32(),
    nextPosition: reader.uint32(),
    flags: reader.uint16(),
  }
}

/** `body` is the event without its header and its checksum. */
export function readEventData(header: EventHeader, body: Buffer): EventData {
  const { type } = header
  const reader = new MysqlReader(body, `the event of type ${type} before position ${header.nextPosition}`)
  if (ROW_EVENTS[type] !== undefined) return readRows(type, reader)
  switch (type) {
    case EVENT.rotate:
      return { kind: 'rotate', position: Number(reader.bigUint64()), file: reader.rest().toString() }
    case EVENT.query:
    case EVENT.queryCompressed:
      return { kind: 'query', query: readQuery(reader, type === EVENT.queryCompressed) }
    case EVENT.xid:
    case EVENT.xaPrepare:
      return { kind: 'commit' }
    case EVENT.tableMap:
      return { kind: 'table map', table: readTableMap(reader) }
    case EVENT.gtid:
      return { kind: 'gtid', ...readMysqlGtid(reader) }
    case EVENT.mariadbGtid:
      return { kind: 'begin', ...readMariadbGtid(reader, header.serverId) }
    case EVENT.rowsQuery:
      reader.skip(1)
      return { kind: 'statement', text: reader.rest().toString() }
    case EVENT.annotateRows:
      return { kind: 'statement', text: reader.rest().toString() }
    case EVENT.heartbeat:
    case EVENT.heartbeatV2:
      return { kind: 'heartbeat' }
    case EVENT.incident:
      return {
        kind: 'unsupported',
        reason: 'the server reports that its binary log lacks changes (an incident event): take a new snapshot',
      }
    case EVENT.partialUpdateRows:
      return {
        kind: 'unsupported',
        reason: "it has changes of JSON values only: SET GLOBAL binlog_row_value_options = ''",
      }
    case EVENT.gtidTagged:
      return { kind: 'unsupported', reason: 'GTIDs with tags are not supported' }
    case EVENT.executeLoadQuery:
      return { kind: 'query', query: readQuery(reader, false, LOAD_QUERY_BYTES) }
    default:
      if (EVENTS_WITHOUT_CHANGES.has(type) || (header.flags & IGNORABLE_FLAG) !== 0) return { kind: 'none' }
      return { kind: 'unsupported', reason: `events of the type ${type} are not known` }
  }
}

/** Where a statement that loads a file has its name: the number of the file, two positions and a flag. */
const LOAD_QUERY_BYTES = 13

/** Ends a statement whose tables are not in the log. */
const NO_TABLE = 0xff_ff_ff

function readRows(type: number, reader: MysqlReader): EventData {
  const { op, hasExtraData, isCompressed } = ROW_EVENTS[type]!
  const tableId = reader.uint(6)
  if (tableId === NO_TABLE) return { kind: 'none' }
  reader.skip(2)
  if (hasExtraData) reader.skip(reader.uint16() - 2)
  const columnCount = reader.lengthEncoded()
  const bitmapBytes = (columnCount + 7) >> 3
  const first = reader.view(bitmapBytes)
  const second = op === 'u' ? reader.view(bitmapBytes) : undefined
  const rest = reader.rest()
  const rows = {
    op,
    tableId,
    columnCount,
    presentBefore: op === 'c' ? undefined : first,
    presentAfter: op === 'c' ? first : second,
    rows: isCompressed ? decompress(rest, reader) : rest,
  }
  return { kind: 'rows', rows }
}

/** As the limit of replicas, `slave_max_allowed_packet`. */
export const EVENT_BYTES_MAX = 1 << 30

/** The algorithm and the number of bytes of the length, the length, and the data. */
function decompress(bytes: Buffer, reader: MysqlReader): Buffer {
  const lengthBytes = (bytes[0] ?? 0) & 7
  if (((bytes[0] ?? 0) & 0x70) !== 0) throw reader.fault('is compressed with an unknown algorithm')
  return inflateSync(bytes.subarray(1 + lengthBytes), { maxOutputLength: EVENT_BYTES_MAX })
}

const SQL_MODE = 1

function readQuery(reader: MysqlReader, isCompressed: boolean, extraBytes = 0): QueryData {
  const threadId = reader.uint32()
  reader.skip(4)
  const databaseBytes = reader.uint8()
  reader.skip(2)
  const variableBytes = reader.uint16()
  reader.skip(extraBytes)
  const variables = reader.view(variableBytes)
  const database = reader.utf8(databaseBytes)
  reader.skip(1)
  const rest = reader.rest()
  const sql = (isCompressed ? decompress(rest, reader) : rest).toString()
  return { threadId, database, sql, sqlMode: sqlModeOf(variables) }
}

/** The mode is behind the flags, which have four bytes. */
function sqlModeOf(variables: Buffer): bigint {
  const at = variables[0] === 0 ? 5 : 0
  return variables[at] === SQL_MODE && variables.length >= at + 9 ? variables.readBigUInt64LE(at + 1) : 0n
}

/** Set in a time of commit if another one follows. */
const HAS_ORIGINAL = 1n << 55n

function readMysqlGtid(reader: MysqlReader): { readonly gtid: string; readonly committedAtUs: bigint | undefined } {
  reader.skip(1)
  const uuid = reader
    .view(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const number = reader.bigInt64()
  const gtid = `${uuid}:${number}`
  // The type of the clock and two logical times of 8 bytes are between.
  if (reader.remaining < 17 + 7) return { gtid, committedAtUs: undefined }
  reader.skip(17)
  const committed = readUint56(reader)
  const original = (committed & HAS_ORIGINAL) !== 0n && reader.remaining >= 7 ? readUint56(reader) : committed
  return { gtid, committedAtUs: original & (HAS_ORIGINAL - 1n) }
}

function readUint56(reader: MysqlReader): bigint {
  return BigInt(reader.uint(4)) | (BigInt(reader.uint(3)) << 32n)
}

const IS_STANDALONE = 1

function readMariadbGtid(
  reader: MysqlReader,
  serverId: number,
): { readonly gtid: string; readonly isStandalone: boolean } {
  const sequence = reader.bigUint64()
  const domain = reader.uint32()
  const flags = reader.uint8()
  return { gtid: `${domain}-${serverId}-${sequence}`, isStandalone: (flags & IS_STANDALONE) !== 0 }
}
