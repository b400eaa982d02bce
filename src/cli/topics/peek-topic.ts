import type { Broker, StoredRecord } from '../../broker/broker.ts'
import { printExactJson } from '../../common/exact-json.ts'
import { parseExpression } from '../../plugins/transforms/expression/expression.ts'
import { offsetRanges, type RecordStart } from '../../records/offset-ranges.ts'
import {
  type DecodedPayload,
  type DecodedRecord,
  payloadText,
  type RecordDecoder,
} from '../../records/record-decoder.ts'
import { type RecordScan, recordSize, scanRecords } from '../../records/scan-records.ts'
import { UsageError } from '../command.ts'
import { printableText } from '../terminal/printable-text.ts'
import { dim } from '../terminal/style.ts'

export type PeekOptions = {
  readonly topic: string
  readonly partition: number | undefined
  readonly from: RecordStart
  readonly limit: number
  readonly matches: (record: PeekedRecord) => boolean
  readonly decoder: RecordDecoder
}
export type PeekedRecord = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
} & DecodedRecord

const POLL_MS = 500
const POLL_BYTES = 1024 * 1024
const POLL_RECORDS = 500

/** `earliest`, `latest`, an offset, or a date and time. Throws a `UsageError`. */
export function parseStart(text: string): RecordStart {
  if (text === 'earliest') return 'beginning'
  if (text === 'latest') return 'end'
  if (/^\d{1,15}$/.test(text)) return { offset: Number(text) }
  const timeMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(timeMs)) return { timeMs }
  throw new UsageError(
    `--from ${text}: expected earliest, latest, an offset, or a date and time such as 2026-11-28T12:00:00Z`,
  )
}

/** Counts the records on which the expression has failed: they do not match. */
export class RecordFilter {
  readonly #expression: ReturnType<typeof parseExpression> | undefined
  #failed = 0
  #reason = ''

  /** Throws a `UsageError`. */
  constructor(where: string | undefined) {
    try {
      this.#expression = where === undefined ? undefined : parseExpression(where)
    } catch (error) {
      throw new UsageError(`--where ${where}: ${(error as Error).message}`)
    }
  }

  /** Why records were left out on which the expression has failed. */
  get problem(): string | undefined {
    return this.#failed === 0
      ? undefined
      : `--where could not be evaluated on ${this.#failed} records, which are left out: ${this.#reason}`
  }

  matches({ key, value, headers, timestampMs, ...place }: PeekedRecord): boolean {
    if (this.#expression === undefined) return true
    try {
      const record = {
        ...place,
        key: key.value,
        keySchema: null,
        value: value.value,
        valueSchema: null,
        headers: headers.map(([name, header]) => ({ key: name, value: header.value, schema: null })),
        timestampMs,
      }
      return this.#expression(record) === true
    } catch (error) {
      this.#failed += 1
      this.#reason ||= (error as Error).message
      return false
    }
  }
}

/**
 * The records that match, at most `limit`: from the end, the newest, otherwise the oldest, in the order of time. Memory is bounded by the
 * limits of a scan. Undefined if the topic or the partition does not exist.
 */
export async function* peekTopic(broker: Broker, options: PeekOptions): AsyncGenerator<PeekedRecord> {
  const { topic, partition, from, limit } = options
  let left = limit
  let newest: readonly PeekedRecord[] = []
  for (let positions: RecordScan['positions']; left > 0; ) {
    const scan = {
      topic,
      from,
      limit: Math.min(left, 500),
      ...(partition !== undefined && { partition }),
      ...(positions && { positions }),
    }
    const found = await scanRecords(broker, scan, (record, at) => view(options, record, at))
    if (found === undefined) throw new UsageError(missingMessage(topic, partition))
    if (found.partitionCount > found.partitions.length && partition === undefined)
      throw new UsageError(
        `topic '${topic}' has ${found.partitionCount} partitions, of which ${found.partitions.length} are read at once: add --partition N`,
      )
    const records = found.records.map((one) => one.view)
    left -= records.length
    if (from === 'end') newest = [...records.toReversed(), ...newest]
    else yield* records
    if (!found.hasMore || found.stoppedBy === 'broker' || isSame(positions, found.positions)) break
    positions = found.positions
  }
  yield* newest
}

/** A scan that has made no progress makes none when it is repeated: a record is larger than its limits. */
function isSame(before: RecordScan['positions'], after: ReadonlyMap<number, number>): boolean {
  return before !== undefined && [...after].every(([partition, position]) => before.get(partition) === position)
}

/** The records that match and are written from now on, or from a start, until the signal aborts. */
export async function* followTopic(
  broker: Broker,
  options: PeekOptions,
  signal: AbortSignal,
): AsyncGenerator<PeekedRecord> {
  let left = options.limit
  for await (const [partition, record] of newRecords(broker, options, signal)) {
    const shown = await view(options, record, partition)
    if (shown === undefined) continue
    yield shown.view
    left -= 1
    if (left <= 0) return
  }
}

async function* newRecords(
  broker: Broker,
  { topic, partition, from }: PeekOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly [partition: number, record: StoredRecord]> {
  const found = await offsetRanges(broker, { topic, partition, from })
  if (found === undefined) throw new UsageError(missingMessage(topic, partition))
  const positions = found.ranges.map((range) => ({
    topic,
    partition: range.partition,
    offset: from === 'end' ? range.to : range.from,
  }))
  const reader = broker.reader({ pollBytesMax: POLL_BYTES, pollRecordsMax: POLL_RECORDS })
  signal.addEventListener('abort', () => reader.wake())
  try {
    reader.seek(positions)
    while (!signal.aborted)
      for (const { partition: at, records } of await reader.poll(POLL_MS))
        for (const record of records) yield [at, record]
  } finally {
    await reader.close()
  }
}

async function view({ topic, decoder, matches }: PeekOptions, record: StoredRecord, partition: number) {
  const { offset, timestampMs } = record
  const shown = { topic, partition, offset, timestampMs, ...(await decoder.decode(record)) }
  if (!matches(shown)) return undefined
  return { view: shown, size: recordSize(record) }
}

function missingMessage(topic: string, partition: number | undefined): string {
  return partition === undefined ? `topic '${topic}' does not exist` : `topic '${topic}' has no partition ${partition}`
}

/** Several lines for people to read. */
export function peekText({ partition, offset, timestampMs, key, value, headers }: PeekedRecord): string {
  const lines = [
    dim(`${partition}/${offset}  ${timeOf(timestampMs)}${schemaOf(value)}`),
    ...(key.form === 'null' ? [] : [`  key    ${printableText(payloadText(key))}`]),
    ...headers.map(([name, header]) => `  header ${printableText(`${name}=${payloadText(header)}`)}`),
    `  value  ${value.form === 'null' ? dim('null') : printableText(payloadText(value))}`,
    ...[key, value].flatMap(({ problem }) => (problem === undefined ? [] : [`  note   ${printableText(problem)}`])),
  ]
  return lines.join('\n')
}

/** One line of JSON. */
export function peekJson({ topic, partition, offset, timestampMs, key, value, headers }: PeekedRecord): string {
  const schemas = { ...(key.schema && { keySchema: key.schema }), ...(value.schema && { valueSchema: value.schema }) }
  const problem = value.problem ?? key.problem
  return printableText(
    printExactJson({
      topic,
      partition,
      offset,
      timestamp: timeOf(timestampMs),
      key: dataOf(key),
      value: dataOf(value),
      headers: headers.map(([name, header]) => ({ key: name, value: dataOf(header) })),
      ...schemas,
      ...(problem !== undefined && { problem }),
    }),
  )
}

/** A record of a producer may have any number as its time. */
function timeOf(timestampMs: number): string {
  const time = new Date(timestampMs)
  return Number.isNaN(time.getTime()) ? String(timestampMs) : time.toISOString()
}

function schemaOf({ schema }: DecodedPayload): string {
  return schema === undefined ? '' : `  ${schema.type} schema ${schema.id}`
}

function dataOf(payload: DecodedPayload): unknown {
  return payload.form === 'hex' ? payloadText(payload) : payload.value
}
