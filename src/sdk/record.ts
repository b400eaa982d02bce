import type { Schema } from './schema.ts'

/** A source partition or a source offset: any JSON object. An integer beyond 2^53 is a bigint. */
export type Position = Readonly<Record<string, string | number | bigint | boolean | null>>

export type RecordHeader = { readonly key: string; readonly value: unknown; readonly schema: Schema | null }

/** A record between connectors, transforms and converters. A null schema means schemaless: plain JSON-like values. */
export type ConnectRecord = {
  readonly topic: string
  /** Partition of the topic; undefined: chosen by the key. */
  readonly partition?: number | undefined
  readonly key: unknown
  readonly keySchema: Schema | null
  readonly value: unknown
  readonly valueSchema: Schema | null
  readonly headers: readonly RecordHeader[]
  readonly timestampMs: number | null
}

/** A record that a source yields. */
export type SourceRecord = {
  readonly topic: string
  readonly partition?: number
  readonly key?: unknown
  readonly keySchema?: Schema | null
  readonly value: unknown
  readonly valueSchema?: Schema | null
  readonly headers?: readonly RecordHeader[]
  readonly timestampMs?: number | null
  /** The part of the external system that the record was read from, and the position after it. */
  readonly sourcePartition: Position
  readonly sourceOffset: Position
}

/** A record that a sink receives. */
export type SinkRecord = ConnectRecord & {
  readonly partition: number
  readonly offset: number
  /** The topic, partition and offset in the log, before any transform. */
  readonly origin: { readonly topic: string; readonly partition: number; readonly offset: number }
}
