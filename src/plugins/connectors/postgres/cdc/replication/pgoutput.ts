import { BinaryReader } from '../../../../../common/binary-reader.ts'
import { type Cell, type Row, UNSENT } from '../../../cdc/table.ts'
import { type Lsn, REPLICA_IDENTITIES, type Table } from '../changes/change.ts'
import { printLsn } from './lsn.ts'
import { replicationFault } from './protocol-error.ts'

// The messages of the output plugin `pgoutput`, protocol version 1: transactions arrive whole, in the order of their commits.
// https://www.postgresql.org/docs/current/protocol-logicalrep-message-formats.html

/** A column as a relation message describes it. */
export type RelationColumn = {
  readonly name: string
  readonly typeId: number
  readonly modifier: number
  /** Whether the column is part of the replica identity. */
  readonly isIdentity: boolean
}

export type Relation = Pick<Table, 'id' | 'schema' | 'name' | 'replicaIdentity'> & {
  readonly columns: readonly RelationColumn[]
}

export type PgoutputMessage =
  | {
      readonly kind: 'begin'
      readonly commitLsn: Lsn
      readonly committedAtUs: bigint
      readonly transactionId: number
      readonly lsn: Lsn
    }
  | {
      readonly kind: 'commit'
      readonly commitLsn: Lsn
      readonly endLsn: Lsn
      readonly committedAtUs: bigint
      readonly lsn: Lsn
    }
  | { readonly kind: 'origin'; readonly originLsn: Lsn; readonly name: string; readonly lsn: Lsn }
  | { readonly kind: 'relation'; readonly relation: Relation; readonly lsn: Lsn }
  | {
      readonly kind: 'type'
      readonly typeId: number
      readonly schema: string
      readonly name: string
      readonly lsn: Lsn
    }
  | { readonly kind: 'insert'; readonly tableId: number; readonly after: Row; readonly lsn: Lsn }
  | {
      readonly kind: 'update'
      readonly tableId: number
      readonly before: Row | undefined
      readonly isBeforeKeyOnly: boolean
      readonly after: Row
      readonly lsn: Lsn
    }
  | {
      readonly kind: 'delete'
      readonly tableId: number
      readonly before: Row
      readonly isBeforeKeyOnly: boolean
      readonly lsn: Lsn
    }
  | { readonly kind: 'truncate'; readonly tableIds: readonly number[]; readonly lsn: Lsn }
  | {
      readonly kind: 'message'
      readonly isTransactional: boolean
      readonly prefix: string
      readonly content: Uint8Array
      readonly lsn: Lsn
    }

/** 2000-01-01, the epoch of PostgreSQL, in microseconds since 1970. */
const EPOCH_US = 946_684_800_000_000n

/** Decodes one message. `lsn` is the position that the server sent with it. Throws a `ReplicationProtocolError` for a damaged message. */
export function decodePgoutput(bytes: Buffer, lsn: Lsn): PgoutputMessage {
  const reader = new BinaryReader(bytes, replicationFault(`message of pgoutput at ${printLsn(lsn)}`))
  const message = decode(reader, lsn)
  reader.expectEnd()
  return message
}

function decode(reader: BinaryReader, lsn: Lsn): PgoutputMessage {
  const type = readCharacter(reader)
  switch (type) {
    case 'I': {
      const tableId = reader.uint32()
      expectMarker(reader, 'N')
      return { kind: 'insert', tableId, after: readRow(reader), lsn }
    }
    case 'U':
      return readUpdate(reader, lsn)
    case 'D': {
      const tableId = reader.uint32()
      const isBeforeKeyOnly = expectMarker(reader, 'KO') === 'K'
      return { kind: 'delete', tableId, before: readRow(reader), isBeforeKeyOnly, lsn }
    }
    case 'B': {
      const commitLsn = reader.bigUint64()
      const committedAtUs = reader.bigInt64() + EPOCH_US
      return { kind: 'begin', commitLsn, committedAtUs, transactionId: reader.uint32(), lsn }
    }
    case 'C': {
      reader.uint8()
      const commitLsn = reader.bigUint64()
      const endLsn = reader.bigUint64()
      return { kind: 'commit', commitLsn, endLsn, committedAtUs: reader.bigInt64() + EPOCH_US, lsn }
    }
    case 'R':
      return { kind: 'relation', relation: readRelation(reader), lsn }
    case 'Y':
      return {
        kind: 'type',
        typeId: reader.uint32(),
        schema: reader.zeroTerminated(),
        name: reader.zeroTerminated(),
        lsn,
      }
    case 'T': {
      const count = reader.uint32()
      // Options: CASCADE and RESTART IDENTITY.
      reader.uint8()
      return { kind: 'truncate', tableIds: readList(count, () => reader.uint32()), lsn }
    }
    case 'M': {
      const isTransactional = (reader.uint8() & 1) === 1
      const messageLsn = reader.bigUint64()
      const prefix = reader.zeroTerminated()
      return { kind: 'message', isTransactional, prefix, content: reader.copy(reader.uint32()), lsn: messageLsn }
    }
    case 'O':
      return { kind: 'origin', originLsn: reader.bigUint64(), name: reader.zeroTerminated(), lsn }
    default:
      throw reader.fault(`has the unknown type '${type}': the server uses a newer protocol than was requested`)
  }
}

function readUpdate(reader: BinaryReader, lsn: Lsn): PgoutputMessage {
  const tableId = reader.uint32()
  const marker = expectMarker(reader, 'KON')
  const before = marker === 'N' ? undefined : readRow(reader)
  if (marker !== 'N') expectMarker(reader, 'N')
  return { kind: 'update', tableId, before, isBeforeKeyOnly: marker === 'K', after: readRow(reader), lsn }
}

function readRelation(reader: BinaryReader): Relation {
  const id = reader.uint32()
  // The server sends no name for the schema pg_catalog.
  const schema = reader.zeroTerminated() || 'pg_catalog'
  const name = reader.zeroTerminated()
  const identity = readCharacter(reader)
  const replicaIdentity = REPLICA_IDENTITIES[identity]
  if (replicaIdentity === undefined) {
    throw reader.fault(`has the unknown replica identity '${identity}' for ${schema}.${name}`)
  }
  const columns = readList(reader.uint16(), () => ({
    isIdentity: (reader.uint8() & 1) === 1,
    name: reader.zeroTerminated(),
    typeId: reader.uint32(),
    modifier: reader.int32(),
  }))
  return { id, schema, name, replicaIdentity, columns }
}

function readRow(reader: BinaryReader): Row {
  const count = reader.uint16()
  return readList(count, () => readCell(reader))
}

function readList<Item>(count: number, read: () => Item): readonly Item[] {
  const items: Item[] = []
  for (let left = count; left > 0; left--) items.push(read())
  return items
}

/** One ASCII character. */
function readCharacter(reader: BinaryReader): string {
  return String.fromCharCode(reader.uint8())
}

const NULL = 0x6e
const UNCHANGED = 0x75
const TEXT = 0x74

function readCell(reader: BinaryReader): Cell {
  const format = reader.uint8()
  switch (format) {
    case TEXT:
      return reader.utf8(reader.uint32())
    case NULL:
      return null
    case UNCHANGED:
      return UNSENT
    default:
      throw reader.fault(
        `has a value in the unknown format '${String.fromCharCode(format)}': expected text, null or unchanged`,
      )
  }
}

function expectMarker(reader: BinaryReader, markers: string): string {
  const marker = readCharacter(reader)
  if (markers.includes(marker)) return marker
  throw reader.fault(`has '${marker}' before a row: expected one of ${[...markers].join(', ')}`)
}
