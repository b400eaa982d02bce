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
export type ChainResult = {
  /** For the record of a sink, data that is not converted yet is null or empty. */
  record: ConnectRecord
  key: Uint8Array | null
  value: Uint8Array | null
  headers: readonly Header[]
  /** Whether the next conditional transformation is applied to this record. */
  isSelected: boolean
}

/** A record on its way through a pipeline. */
export type ChainItem = ChainResult & {
  /** The record as the source returned it, or the place of a record of a sink in the log. */
  readonly origin: SourceRecord | SinkRecord['origin']
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
    const { record, origin, isSelected } = item
    body.string(record.topic)
    body.integer(record.partition)
    writeTimestamp(body, record.timestampMs)
    body.uint8(isSelected ? 1 : 0)
    if (this.#isSink && this.#convertsKey) body.value(null, item.key)
    else if (this.#needsRecord || this.#convertsKey) writeData(body, record.keySchema, record.key)
    if (this.#isSink && this.#convertsValue) body.value(null, item.value)
    else if (this.#needsRecord || this.#convertsValue) writeData(body, record.valueSchema, record.value)
    this.#writeHeaders(body, item)
    if (this.#needsRecord) writeOrigin(body, record, origin)
  }

  /** Reads one result into `item`. */
  read(body: FrameReader, item: ChainResult): ChainOutcome {
    const outcome = this.readOutcome(body)
    if (outcome === 'passed') this.#readResult(body, item)
    return outcome
  }

  readOutcome(body: FrameReader): ChainOutcome {
    switch (body.uint8()) {
      case OUTCOME.dropped:
        return 'dropped'
      case OUTCOME.passed:
        return 'passed'
      case OUTCOME.failed:
        return { step: body.varint(), failed: readFailure(body) }
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

  #readResult(body: FrameReader, item: ChainResult): void {
    item.isSelected = body.uint8() === 1
    const isTransformed = body.uint8() === 1
    const changed: Changes = {}
    if (isTransformed) {
      changed.topic = body.string()
      changed.partition = (body.value() as number | null) ?? undefined
      changed.timestampMs = body.value() as number | null
    }
    if (!this.#isSink && this.#convertsKey) item.key = body.value() as Uint8Array | null
    else if (isTransformed || this.#convertsKey) {
      changed.keySchema = body.schema()
      changed.key = body.value(changed.keySchema)
    }
    if (!this.#isSink && this.#convertsValue) item.value = body.value() as Uint8Array | null
    else if (isTransformed || this.#convertsValue) {
      changed.valueSchema = body.schema()
      changed.value = body.value(changed.valueSchema)
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
  body.uint8(timestampMs === null ? VALUE_TAG.null : VALUE_TAG.int64)
  if (timestampMs !== null) body.int64(timestampMs)
}

function writeData(body: FrameWriter, schema: ConnectRecord['keySchema'], value: unknown): void {
  body.schema(schema)
  body.value(schema, value)
}

function writeOrigin(body: FrameWriter, record: ConnectRecord, origin: ChainItem['origin']): void {
  if ('sourcePartition' in origin) {
    body.value(null, origin.sourcePartition)
    body.value(null, origin.sourceOffset)
    return
  }
  const { timestampMs, offset } = record as SinkRecord
  body.uint8(timestampMs === null ? TIMESTAMP.none : TIMESTAMP.created)
  body.int64(offset)
  body.string(origin.topic)
  body.varint(origin.partition)
  body.int64(origin.offset)
}

function writeHeaderBytes(body: FrameWriter, headers: readonly Header[]): void {
  body.varint(headers.length)
  for (const [name, value] of headers) {
    body.string(name)
    body.value(null, value)
  }
}

function readHeaderBytes(body: FrameReader): readonly Header[] {
  const headers: Header[] = []
  for (let count = body.varint(); count > 0; count--) {
    headers.push([body.string(), body.value() as Uint8Array | null])
  }
  return headers
}
