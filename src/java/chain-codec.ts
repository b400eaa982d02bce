import type { ConnectRecord, SinkRecord, SourceRecord } from '../sdk/index.ts'
import type { FrameReader } from './frame-reader.ts'
import type { FrameWriter } from './frame-writer.ts'
import { readFailure } from './host-connection.ts'
import type { JavaPluginError } from './host-error.ts'
import { ProtocolError, VALUE_TAG } from './host-protocol.ts'
import { readHeaders, writeHeaders } from './record-codec.ts'

// The records of a chain as they cross the boundary: of each one only the parts that the steps read, and on the way back
// only those that they changed. `ChainCodec.java` is the other side.

export type ChainRole = 'predicate' | 'transformation' | 'header_converter' | 'key_converter' | 'value_converter'

type Header = readonly [name: string, value: Uint8Array | null]

/** What the steps of a pipeline have made of one record: its data, its bytes, or both. */
export type ChainItem = {
  record: ConnectRecord
  /** The record as the source returned it; undefined for the record of a sink. */
  readonly source: SourceRecord | undefined
  key: Uint8Array | null
  value: Uint8Array | null
  headers: readonly Header[]
  /** Whether the next conditional transformation is applied to this record. */
  isSelected: boolean
}

/** `failed` names the step by its index in the chain. */
export type ChainOutcome = 'passed' | 'dropped' | { readonly failed: JavaPluginError; readonly step: number }

const OUTCOME = { dropped: 0, passed: 1, failed: 2 } as const
/** Ordinals of Java's `TimestampType`. */
const TIMESTAMP = { none: 0, created: 1 } as const

export class ChainCodec {
  readonly #isSink: boolean
  readonly #convertsKey: boolean
  readonly #convertsValue: boolean
  readonly #convertsHeaders: boolean
  readonly #convertsAny: boolean
  /** Transformations and predicates see all of a record. */
  readonly #needsRecord: boolean

  constructor(isSink: boolean, roles: readonly ChainRole[]) {
    const has = (role: ChainRole) => roles.includes(role)
    this.#isSink = isSink
    this.#convertsKey = has('key_converter')
    this.#convertsValue = has('value_converter')
    this.#convertsHeaders = has('header_converter')
    this.#convertsAny = this.#convertsKey || this.#convertsValue || this.#convertsHeaders
    this.#needsRecord = has('transformation') || has('predicate')
  }

  /** Throws for data that is no Connect data, or that its schema does not allow. */
  write(body: FrameWriter, item: ChainItem): void {
    const { record, source, isSelected } = item
    body.writeString(record.topic)
    body.writeInt32(record.partition)
    writeTimestamp(body, record.timestampMs)
    body.writeByte(isSelected ? 1 : 0)
    if (this.#isSink && this.#convertsKey) body.writeValue(null, item.key)
    else if (this.#needsRecord || this.#convertsKey) writeData(body, record.keySchema, record.key)
    if (this.#isSink && this.#convertsValue) body.writeValue(null, item.value)
    else if (this.#needsRecord || this.#convertsValue) writeData(body, record.valueSchema, record.value)
    this.#writeHeaders(body, item)
    if (this.#needsRecord) writeOrigin(body, record, source)
  }

  /** Reads one result into `item`. */
  read(body: FrameReader, item: ChainItem): ChainOutcome {
    const outcome = this.readOutcome(body)
    if (outcome === 'passed') this.#readResult(body, item)
    return outcome
  }

  readOutcome(body: FrameReader): ChainOutcome {
    switch (body.readByte()) {
      case OUTCOME.dropped:
        return 'dropped'
      case OUTCOME.passed:
        return 'passed'
      case OUTCOME.failed:
        return { step: body.readVarint(), failed: readFailure(body) }
      default:
        throw new ProtocolError('a result of a chain has an unknown outcome')
    }
  }

  /** Converters of keys and values also receive the headers as bytes. */
  #writeHeaders(body: FrameWriter, { record, headers }: ChainItem): void {
    const convertsHeaders = this.#convertsHeaders
    const sendsData = this.#isSink ? this.#needsRecord && !convertsHeaders : this.#needsRecord || convertsHeaders
    if (sendsData) writeHeaders(body, record.headers)
    const sendsBytes = this.#isSink ? this.#convertsAny : this.#convertsAny && !convertsHeaders
    if (sendsBytes) writeHeaderBytes(body, headers)
  }

  #readResult(body: FrameReader, item: ChainItem): void {
    item.isSelected = body.readByte() === 1
    const isTransformed = body.readByte() === 1
    const changed: Changes = {}
    if (isTransformed) {
      changed.topic = body.readString()
      changed.partition = (body.readValue() as number | null) ?? undefined
      changed.timestampMs = body.readValue() as number | null
    }
    if (!this.#isSink && this.#convertsKey) item.key = body.readValue() as Uint8Array | null
    else if (isTransformed || this.#convertsKey) {
      changed.keySchema = body.readSchema()
      changed.key = body.readValue(changed.keySchema)
    }
    if (!this.#isSink && this.#convertsValue) item.value = body.readValue() as Uint8Array | null
    else if (isTransformed || this.#convertsValue) {
      changed.valueSchema = body.readSchema()
      changed.value = body.readValue(changed.valueSchema)
    }
    if (this.#returnsHeaders(isTransformed)) changed.headers = readHeaders(body)
    if (!this.#isSink && this.#convertsAny) item.headers = readHeaderBytes(body)
    item.record = { ...item.record, ...changed }
  }

  #returnsHeaders(isTransformed: boolean): boolean {
    return this.#isSink ? isTransformed || this.#convertsHeaders : isTransformed && !this.#convertsHeaders
  }
}

type Changes = { -readonly [Member in keyof ConnectRecord]?: ConnectRecord[Member] }

function writeTimestamp(body: FrameWriter, timestampMs: number | null): void {
  body.writeByte(timestampMs === null ? VALUE_TAG.null : VALUE_TAG.int64)
  if (timestampMs !== null) body.writeInt64(timestampMs)
}

function writeData(body: FrameWriter, schema: ConnectRecord['keySchema'], value: unknown): void {
  body.writeSchema(schema)
  body.writeValue(schema, value)
}

function writeOrigin(body: FrameWriter, record: ConnectRecord, source: SourceRecord | undefined): void {
  if (source !== undefined) {
    body.writeValue(null, source.sourcePartition)
    body.writeValue(null, source.sourceOffset)
    return
  }
  const { timestampMs, offset, origin } = record as SinkRecord
  body.writeByte(timestampMs === null ? TIMESTAMP.none : TIMESTAMP.created)
  body.writeInt64(offset)
  body.writeString(origin.topic)
  body.writeVarint(origin.partition)
  body.writeInt64(origin.offset)
}

function writeHeaderBytes(body: FrameWriter, headers: readonly Header[]): void {
  body.writeVarint(headers.length)
  for (const [name, value] of headers) {
    body.writeString(name)
    body.writeValue(null, value)
  }
}

function readHeaderBytes(body: FrameReader): readonly Header[] {
  const headers: Header[] = []
  for (let count = body.readCount(); count > 0; count--) {
    headers.push([body.readString(), body.readValue() as Uint8Array | null])
  }
  return headers
}
