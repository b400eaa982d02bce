import type { Broker, Header, PartitionOffset, StoredRecord } from '../../broker/broker.ts'
import { type DeadLetterRecord, parseDeadLetter } from '../../dead-letters/dead-letter.ts'
import type { DeadLetterPosition } from '../../dead-letters/replay-marks.ts'

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

const POLL_MS = 500
const POLL_BYTES = 1024 * 1024
const POLL_RECORDS = 500
const PARTITIONS_MAX = 50
/** Records that a scan reads in order to find those that match. */
const SCANNED_RECORDS_MAX = 5_000
const SCANNED_BYTES_MAX = 64 * 1024 * 1024
/** Maximum sizes that a scan returns: of one key or value, of one header, and of all records. */
const PAYLOAD_BYTES_MAX = 64 * 1024
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 100
const RESULT_BYTES_MAX = 4 * 1024 * 1024
/** Maximum total size of records that are read as a whole. */
const WHOLE_BYTES_MAX = 8 * 1024 * 1024

/** Finds the newest dead letters of a connector. Undefined if the topic does not exist. */
export async function scanDeadLetters(broker: Broker, request: ScanRequest): Promise<ScanResult | undefined> {
  const { topic, limit } = request
  if ((await broker.topics.describe(topic)) === undefined) return undefined
  const [starts, ends] = await Promise.all([
    broker.topics.offsets(topic, 'earliest'),
    broker.topics.offsets(topic, 'latest'),
  ])
  const wanted = ends.filter(({ partition }) => request.partition === undefined || partition === request.partition)
  const budget = { records: SCANNED_RECORDS_MAX, bytes: SCANNED_BYTES_MAX, ofOthers: 0 }
  const partitions: ScannedPartition[] = []
  const found: ScannedRecord[] = []
  for (const { partition, offset: end } of wanted.slice(0, PARTITIONS_MAX)) {
    const earliest = starts.find((start) => start.partition === partition)?.offset ?? 0
    const { records, scannedFrom } = await scanPartition(broker, { ...request, partition }, { earliest, end }, budget)
    found.push(...records)
    partitions.push({ partition, earliest, end, olderBefore: scannedFrom > earliest ? scannedFrom : undefined })
  }
  const newest = withinBytes(found.toSorted(newestFirst).slice(0, limit))
  return {
    records: newest,
    // What was found but is not returned is older, too.
    partitions: partitions.map((one) => ({ ...one, olderBefore: olderBefore(one, found, newest) })),
    partitionCount: ends.length,
    ofOthers: budget.ofOthers,
  }
}

type Budget = { records: number; bytes: number; ofOthers: number }

/** Reads windows backwards until enough records match, or the budget is used. */
async function scanPartition(
  broker: Broker,
  request: ScanRequest & { readonly partition: number },
  { earliest, end }: { readonly earliest: number; readonly end: number },
  budget: Budget,
): Promise<{ readonly records: readonly ScannedRecord[]; readonly scannedFrom: number }> {
  const { topic, partition, limit } = request
  let records: readonly ScannedRecord[] = []
  let to = Math.min(request.before ?? end, end)
  for (let size = limit; to > earliest && records.length < limit && budget.records > 0 && budget.bytes > 0; ) {
    const from = Math.max(earliest, to - size)
    const window: ScannedRecord[] = []
    for await (const record of readRange(broker, { topic, partition, offset: from }, to)) {
      budget.records -= 1
      budget.bytes -= sizeOf(record)
      if (matches(request, parseDeadLetter(partition, record), budget)) window.push(shorten(partition, record))
    }
    records = [...window, ...records]
    to = from
    size = Math.min(size * 4, Math.max(budget.records, 1))
  }
  return { records, scannedFrom: to }
}

function matches({ connector, exceptionClass }: ScanRequest, { errors }: DeadLetterRecord, budget: Budget): boolean {
  if ((errors.get('connector.name') ?? connector) !== connector) {
    budget.ofOthers += 1
    return false
  }
  return exceptionClass === undefined || errors.get('exception.class.name') === exceptionClass
}

/** Reads whole records; undefined for one that does not exist (any more). Throws when they are too large together. */
export async function readDeadLetters(
  broker: Broker,
  topic: string,
  positions: readonly DeadLetterPosition[],
): Promise<readonly (StoredRecord | undefined)[]> {
  if ((await broker.topics.describe(topic)) === undefined) return positions.map(() => undefined)
  const found: (StoredRecord | undefined)[] = []
  const [starts, ends] = await Promise.all([
    broker.topics.offsets(topic, 'earliest'),
    broker.topics.offsets(topic, 'latest'),
  ])
  const at = (offsets: readonly PartitionOffset[], partition: number) =>
    offsets.find((known) => known.partition === partition)?.offset ?? 0
  let bytes = 0
  for (const { partition, offset } of positions) {
    const exists = offset >= at(starts, partition) && offset < at(ends, partition)
    const records = exists ? readRange(broker, { topic, partition, offset }, offset + 1) : []
    let record: StoredRecord | undefined
    for await (const one of records) if (one.offset === offset) record = one
    bytes += record === undefined ? 0 : sizeOf(record)
    if (bytes > WHOLE_BYTES_MAX) throw new RangeError(`the records have more than ${WHOLE_BYTES_MAX} bytes together`)
    found.push(record && whole(record))
  }
  return found
}

async function* readRange(broker: Broker, from: PartitionOffset, to: number): AsyncGenerator<StoredRecord> {
  const reader = broker.reader({ pollBytesMax: POLL_BYTES, pollRecordsMax: POLL_RECORDS })
  try {
    reader.seek([from])
    for (let next = from.offset; next < to; ) {
      for (const { records, nextOffset } of await reader.poll(POLL_MS)) {
        next = nextOffset
        for (const record of records) if (record.offset < to) yield record
      }
    }
  } finally {
    await reader.close()
  }
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

function sizeOf({ key, value, headers }: StoredRecord): number {
  const ofHeaders = headers.reduce((sum, [name, bytes]) => sum + name.length + (bytes?.length ?? 0), 0)
  return (key?.length ?? 0) + (value?.length ?? 0) + ofHeaders
}

function withinBytes(records: readonly ScannedRecord[]): readonly ScannedRecord[] {
  let bytes = 0
  const end = records.findIndex(({ record }) => {
    bytes += sizeOf(record)
    return bytes > RESULT_BYTES_MAX
  })
  return end === -1 ? records : records.slice(0, Math.max(end, 1))
}

function newestFirst(a: ScannedRecord, b: ScannedRecord): number {
  if (a.partition === b.partition) return b.record.offset - a.record.offset
  return b.record.timestampMs - a.record.timestampMs || a.partition - b.partition
}

function olderBefore(
  { partition, olderBefore: scannedFrom }: ScannedPartition,
  found: readonly ScannedRecord[],
  returned: readonly ScannedRecord[],
): number | undefined {
  const offsetsIn = (records: readonly ScannedRecord[]) =>
    records.filter((one) => one.partition === partition).map(({ record }) => record.offset)
  const shown = offsetsIn(returned)
  const all = offsetsIn(found)
  if (shown.length === all.length) return scannedFrom
  return shown.length === 0 ? Math.max(...all) + 1 : Math.min(...shown)
}
