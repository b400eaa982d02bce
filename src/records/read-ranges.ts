import type { Broker, PartitionReader, PartitionRecords, StoredRecord } from '../broker/broker.ts'
import type { OffsetRange } from './offset-ranges.ts'

/** `leave`: this record and the rest of its partition are not read. `stop`: neither this record nor any other is read. */
export type RecordVisitor = (partition: number, record: StoredRecord) => Promise<'continue' | 'leave' | 'stop'>

export type ReadRanges = {
  /** The next offset of each partition: all records before it were read. */
  readonly reached: ReadonlyMap<number, number>
  /** Whether reading stopped early, because the brokers returned nothing. */
  readonly isIdle: boolean
}

const POLL_MS = 500
const IDLE_MS_MAX = 5_000
const POLL_BYTES = 1024 * 1024
const POLL_RECORDS = 500

/** Reads several partitions at once, until the brokers return nothing for `idleMsMax`. */
export async function readRanges(
  broker: Broker,
  topic: string,
  ranges: readonly OffsetRange[],
  onRecord: RecordVisitor,
  idleMsMax = IDLE_MS_MAX,
): Promise<ReadRanges> {
  const open = ranges.filter(({ from, to }) => from < to)
  if (open.length === 0)
    return { reached: new Map(ranges.map(({ partition, from }) => [partition, from])), isIdle: false }
  const reader = broker.reader({ pollBytesMax: POLL_BYTES, pollRecordsMax: POLL_RECORDS, prefetchesAtEnd: false })
  try {
    reader.seek(open.map(({ partition, from: offset }) => ({ topic, partition, offset })))
    return await new RangeReading(reader, topic, ranges, onRecord).run(idleMsMax)
  } finally {
    await reader.close()
  }
}

class RangeReading {
  readonly #reader: PartitionReader
  readonly #topic: string
  readonly #onRecord: RecordVisitor
  readonly #open: Map<number, OffsetRange>
  readonly #reached: Map<number, number>

  constructor(reader: PartitionReader, topic: string, ranges: readonly OffsetRange[], onRecord: RecordVisitor) {
    this.#reader = reader
    this.#topic = topic
    this.#onRecord = onRecord
    this.#open = new Map(ranges.flatMap((range) => (range.from < range.to ? [[range.partition, range] as const] : [])))
    this.#reached = new Map(ranges.map(({ partition, from }) => [partition, from]))
  }

  async run(idleMsMax: number): Promise<ReadRanges> {
    for (let idleMs = 0; this.#open.size > 0; ) {
      const polled = await this.#reader.poll(POLL_MS)
      idleMs = polled.length === 0 ? idleMs + POLL_MS : 0
      if (idleMs >= idleMsMax) return { reached: this.#reached, isIdle: true }
      for (const part of polled) await this.#take(part)
    }
    return { reached: this.#reached, isIdle: false }
  }

  async #take({ partition, records, nextOffset }: PartitionRecords): Promise<void> {
    const range = this.#open.get(partition)
    if (range === undefined) return
    let next = Math.min(nextOffset, range.to)
    for (const record of records) {
      if (record.offset >= range.to) break
      const todo = await this.#onRecord(partition, record)
      if (todo === 'continue') continue
      next = record.offset
      if (todo === 'stop') this.#open.clear()
      else this.#leave(partition)
      break
    }
    this.#reached.set(partition, Math.max(next, range.from))
    if (next >= range.to) this.#leave(partition)
  }

  #leave(partition: number): void {
    this.#open.delete(partition)
    this.#reader.drop([{ topic: this.#topic, partition }])
  }
}
