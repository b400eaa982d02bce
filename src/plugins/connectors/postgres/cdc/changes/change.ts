import type { SnapshotMarker } from '../../../cdc/snapshot/row-sequence.ts'
import type { Row } from '../../../cdc/table.ts'

/** A place in the log of a server, in bytes. */
export type Lsn = bigint

/**
 * Where a change is: events of one transaction share LSNs, so a position counts them. `index` is the number of the event in
 * its transaction, from 0; -1 for a message outside of transactions. A position is ordered by `commitLsn`, then `index`.
 */
export type StreamPosition = { readonly commitLsn: Lsn; readonly index: number }

/** A column of a table, as the server described it at that moment. */
export type Column = {
  readonly name: string
  /** OID of its type. */
  readonly typeId: number
  /** Type modifier (precision, scale, length as the type encodes it); -1 if there is none. */
  readonly modifier: number
  /** Whether the column identifies a row: part of the primary key or of the replica identity. */
  readonly isKey: boolean
  readonly isOptional: boolean
  /** The default as an SQL expression; undefined if there is none or if it is not known. */
  readonly defaultExpression: string | undefined
}

/** One version of a table. A changed table is a new object, so schemas can be cached by identity. */
export type Table = {
  readonly id: number
  readonly schema: string
  readonly name: string
  readonly replicaIdentity: 'default' | 'nothing' | 'full' | 'index'
  readonly columns: readonly Column[]
  /** Names of the columns with `isKey`, in the order of the key's definition. */
  readonly keyNames: readonly string[]
  /** A column of the present key of which it is not known which column it was in this version; `keyNames` is empty then. */
  readonly unknownKeyName?: string
}

/** Replica identities by their letter in `pg_class.relreplident` and in relation messages. */
export const REPLICA_IDENTITIES: Readonly<Record<string, Table['replicaIdentity']>> = {
  d: 'default',
  n: 'nothing',
  f: 'full',
  i: 'index',
}

export type DatabaseTransaction = { readonly id: number; readonly commitLsn: Lsn; readonly committedAtUs: bigint }

export type DatabaseChange =
  | { readonly kind: 'begin'; readonly transaction: DatabaseTransaction; readonly lsn: Lsn }
  | { readonly kind: 'commit'; readonly transaction: DatabaseTransaction; readonly endLsn: Lsn }
  | {
      readonly kind: 'row'
      readonly op: 'c' | 'u' | 'd'
      readonly table: Table
      /** The old row: complete with replica identity FULL, the key columns only otherwise (others are null), or undefined. */
      readonly before: Row | undefined
      readonly isBeforeKeyOnly: boolean
      readonly after: Row | undefined
      readonly transaction: DatabaseTransaction
      readonly lsn: Lsn
      readonly position: StreamPosition
    }
  | {
      readonly kind: 'truncate'
      readonly tables: readonly Table[]
      readonly transaction: DatabaseTransaction
      readonly lsn: Lsn
      readonly position: StreamPosition
    }
  | {
      readonly kind: 'message'
      readonly prefix: string
      readonly content: Uint8Array
      /** Undefined for a message outside of transactions. */
      readonly transaction: DatabaseTransaction | undefined
      readonly lsn: Lsn
      readonly position: StreamPosition
    }

/** A row of a snapshot. */
export type SnapshotRow = {
  readonly kind: 'snapshot'
  readonly table: Table
  readonly row: Row
  /** Debezium's `source.snapshot`. */
  readonly marker: SnapshotMarker | 'incremental'
  readonly lsn: Lsn
  readonly transactionId: number | undefined
  readonly readAtUs: bigint
}
