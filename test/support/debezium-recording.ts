/** What Debezium is run with to record its events. */
export type RecordingPlan = {
  readonly name: string
  /** Keys in addition to those of the connection. */
  readonly config: Readonly<Record<string, string>>
  /** Statements before the snapshot. */
  readonly setup: string
  /** Statements after the snapshot. Each is a transaction. */
  readonly changes: readonly string[]
}

/** A schema and a value as JsonConverter writes them. In a file, schemas are indexes of `Recording.schemas`. */
export type RecordedPart<S = string> = { readonly schema: S; readonly payload: string } | null

export type RecordedEvent<S = string> = {
  readonly topic: string
  readonly key: RecordedPart<S>
  readonly value: RecordedPart<S>
  readonly headers: readonly { readonly key: string; readonly value: RecordedPart<S> }[]
  readonly sourcePartition: Readonly<Record<string, unknown>>
  readonly sourceOffset: Readonly<Record<string, unknown>>
}

/** A table as the server described it after all changes. */
export type RecordedTable = {
  readonly id: number
  readonly schema: string
  readonly name: string
  readonly replicaIdentity: string
  readonly columns: readonly RecordedColumn[]
  /** The rows of the snapshot, in PostgreSQL's text format. */
  readonly rows: readonly (readonly (string | null)[])[]
}

export type RecordedColumn = {
  readonly name: string
  readonly typeId: number
  readonly modifier: number
  readonly keyPosition: number | null
  readonly isOptional: boolean
  readonly defaultExpression: string | null
}

/** A message of `pgoutput`, protocol version 1. */
export type RecordedMessage = { readonly lsn: string; readonly transactionId: number; readonly hex: string }

export type Recording<S = string> = {
  /** Versions of Debezium, JsonConverter and PostgreSQL. */
  readonly versions: Readonly<Record<string, string>>
  readonly config: Readonly<Record<string, string>>
  readonly database: string
  readonly tables: readonly RecordedTable[]
  /** Rows of the catalog, as `ColumnTypes` reads them. */
  readonly types: readonly (readonly (string | null)[])[]
  readonly messages: readonly RecordedMessage[]
  readonly schemas: readonly string[]
  readonly events: readonly RecordedEvent<S>[]
}
