import type { Schema } from './schema.ts'

/** Where a source stands: any JSON object. Partition says of what, offset says how far. */
export type Position = Readonly<Record<string, string | number | boolean | null>>

export type RecordHeader = { readonly key: string; readonly value: unknown; readonly schema: Schema | null }

/** What connectors, transforms and converters exchange. A null schema means schemaless: plain JSON-like values. */
export type ConnectRecord = {
  readonly topic: string
  /** Partition of the topic; undefined lets the key choose. */
  readonly partition?: number | undefined
  readonly key: unknown
  readonly keySchema: Schema | null
  readonly value: unknown
  readonly valueSchema: Schema | null
  readonly headers: readonly RecordHeader[]
  readonly timestampMs: number | null
}

/** What a source yields; everything but the topic and the value may be left out. */
export type SourceRecord = {
  readonly topic: string
  readonly partition?: number
  readonly key?: unknown
  readonly keySchema?: Schema | null
  readonly value: unknown
  readonly valueSchema?: Schema | null
  readonly headers?: readonly RecordHeader[]
  readonly timestampMs?: number | null
  /** Which part of the outside world this record comes from, and how to go on after it. */
  readonly sourcePartition: Position
  readonly sourceOffset: Position
}

/** What a sink receives. */
export type SinkRecord = ConnectRecord & {
  readonly partition: number
  readonly offset: number
  /** The topic, partition and offset in the log, before any transform. */
  readonly origin: { readonly topic: string; readonly partition: number; readonly offset: number }
}
