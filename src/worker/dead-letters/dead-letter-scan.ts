import type { Broker, Header, StoredRecord } from '../../broker/broker.ts'
import { BrokerError } from '../../broker/broker-error.ts'
import { type DeadLetterRecord, parseDeadLetter } from '../../dead-letters/dead-letter.ts'
import type { DeadLetterPosition } from '../../dead-letters/replay-marks.ts'
import { readRecords } from '../../records/read-records.ts'
import { recordSize, SCAN_LIMITS, type ScanLimits, scanRecords } from '../../records/scan-records.ts'

// What `dead-letter-thread-main.ts` executes. The records can be anything, so everything has a limit.

export type ScanRequest = {
  readonly topic: string
  /** Default: all partitions. */
  readonly partition?: number
  /** Only records before this offset. Default: up to the end. */
  readonly before?: number
  /** Number of records to return. */
  readonly limit: number
  /** Only records of this connector, and those that do not name their connector. */
  readonly connector: string
  /** Only records that failed with this class of exception. */
  readonly exceptionClass?: string
}

/** A record whose key, value and headers may be cut off. */
export type ScannedRecord = {
  readonly partition: number
  readonly record: StoredRecord
  readonly keyBytes: number
  readonly valueBytes: number
  readonly headerCount: number
}

export type ScannedPartition = {
  readonly partition: number
  readonly earliest: number
  readonly end: number
  /** Older records are before this offset; undefined if there are none. */
  readonly olderBefore: number | undefined
}

export type ScanResult = {
  /** Newest first. */
  readonly records: readonly ScannedRecord[]
  readonly partitions: readonly ScannedPartition[]
  readonly partitionCount: number
  /** Number of records of other connectors that were left out. */
  readonly ofOthers: number
}

/** Records that a scan reads in order to find those that match. */
const LIMITS: ScanLimits = { ...SCAN_LIMITS, recordsMax: 5_000 }
/** Maximum sizes that a scan returns: of one key or value, and of one header. */
const PAYLOAD_BYTES_MAX = 64 * 1024
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 100
/** Maximum total size of records that are read as a whole. */
const WHOLE_BYTES_MAX = 8 * 1024 * 1024

/** Finds the newest dead letters of a connector. Undefined if the topic or the partition does not exist. */
export async function scanDeadLetters(broker: Broker, request: ScanRequest): Promise<ScanResult | undefined> {
  const { topic, partition: wanted, before, limit } = request
  const positions = wanted === undefined || before === undefined ? undefined : new Map([[wanted, before]])
  const others = new Set<string>()
  const view = async (record: StoredRecord, partition: number) => {
    const { errors } = parseDeadLetter(partition, record)
    const isOfOther = (errors.get('connector.name') ?? request.connector) !== request.connector
    if (isOfOther) others.add(`${partition}/${record.offset}`)
    if (isOfOther || !hasClass(request, errors)) return undefined
    const shortened = shorten(partition, record)
    return { view: shortened, size: recordSize(shortened.record) }
  }
  const scan = { topic, partition: wanted, positions, from: 'end', limit } as const
  const found = await scanRecords(broker, scan, view, LIMITS)
  if (found === undefined) return undefined
  if (found.stoppedBy === 'broker') throw new BrokerError('timeout', 'the brokers returned nothing for some seconds')
  return {
    records: found.records.map(({ view: record }) => record),
    partitions: found.partitions.map(({ partition, earliest, end }) => {
      const position = found.positions.get(partition) ?? end
      return { partition, earliest, end, olderBefore: position > earliest ? position : undefined }
    }),
    partitionCount: found.partitionCount,
    ofOthers: others.size,
  }
}

function hasClass({ exceptionClass }: ScanRequest, errors: DeadLetterRecord['errors']): boolean {
  return exceptionClass === undefined || errors.get('exception.class.name') === exceptionClass
}

/** Reads whole records; undefined for one that does not exist (any more). Throws when they are too large together. */
export async function readDeadLetters(
  broker: Broker,
  topic: string,
  positions: readonly DeadLetterPosition[],
): Promise<readonly (StoredRecord | undefined)[]> {
  const found: (StoredRecord | undefined)[] = []
  let bytes = 0
  for await (const record of readRecords(broker, topic, positions)) {
    bytes += record === undefined ? 0 : recordSize(record)
    if (bytes > WHOLE_BYTES_MAX) throw new RangeError(`the records have more than ${WHOLE_BYTES_MAX} bytes together`)
    found.push(record && whole(record))
  }
  return found
}

/** Copies, because keys and values are views of a whole batch. */
function shorten(partition: number, record: StoredRecord): ScannedRecord {
  const { key, value, headers } = record
  return {
    partition,
    record: {
      ...record,
      key: copy(key, PAYLOAD_BYTES_MAX),
      value: copy(value, PAYLOAD_BYTES_MAX),
      // The last headers describe the last failure.
      headers: headers.slice(-HEADERS_MAX).map(shortenHeader),
    },
    keyBytes: key?.length ?? 0,
    valueBytes: value?.length ?? 0,
    headerCount: headers.length,
  }
}

function shortenHeader([name, value]: Header): Header {
  return [name.slice(0, HEADER_BYTES_MAX), copy(value, HEADER_BYTES_MAX)]
}

function whole(record: StoredRecord): StoredRecord {
  const { key, value, headers } = record
  return {
    ...record,
    key: copy(key),
    value: copy(value),
    headers: headers.map(([name, bytes]) => [name, copy(bytes)]),
  }
}

function copy(bytes: Uint8Array | null, length?: number): Buffer | null {
  return bytes && Buffer.from(bytes.subarray(0, length))
}
