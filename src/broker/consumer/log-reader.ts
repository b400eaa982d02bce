import type { Clock } from '../../common/clock.ts'
import { countWork } from '../../common/code-optimization.ts'
import type {
  Isolation,
  PartitionOffset,
  PartitionReader,
  PartitionReaderOptions,
  PartitionRecords,
  StoredRecord,
  TopicPartition,
} from '../broker.ts'
import type { BrokerBackend, FetchedPartition } from '../broker-backend.ts'
import { BrokerError, isMissing, type UnreadableBatchError } from '../broker-error.ts'
import type { MetadataCache } from '../metadata-cache.ts'
import { type Batch, checkBatch, recordsOf } from '../record-batch/record-batch.ts'
import { topicPartitionKey } from '../topic-partition.ts'
import { type CompletedFetch, isHiddenBatch, toCompletedFetch } from './completed-fetch.ts'
import {
  corruptBatchError,
  parseFetchedBatches,
  type ReadableBatches,
  unreadableBatchError,
} from './fetched-batches.ts'

const POLL_BYTES_MAX = 1 * 1024 * 1024
/** Bytes that one poll decodes, so that the event loop is not blocked for long; the next poll returns the rest. */
const DECODE_BYTES_MAX = 512 * 1024
const FETCH_WAIT_MS = 500
/** Buffered fetches per partition: the one being consumed and the next one. */
const AHEAD_MAX = 2
const RETRY_WAIT_MS = 100
/** A constant reason: without one, every abort creates an error with a stack. */
const WAIT_ENDED = new Error('the wait has ended')

export type LogReaderDependencies = {
  readonly backend: BrokerBackend
  readonly topology: MetadataCache
  readonly clock: Clock
  readonly onMissingTopic?: () => void
  readonly onClose: () => void
}

/** The position in one partition. A seek creates a new object, so that late responses are discarded. */
type Position = TopicPartition & {
  readonly key: string
  offset: number
  endOffset: number
  isPaused: boolean
  isFetching: boolean
  /** Offset of the next fetch. */
  fetchOffset: number
  /** Fetched and not yet returned, at most `AHEAD_MAX`. */
  readonly fetched: CompletedFetch[]
  /** Records that were decoded but exceeded the limit of the last poll. */
  surplus: readonly StoredRecord[]
  /** Why no batch after `fetched` can be read. Kept until the next seek: unreadable batches are never skipped. */
  damage: UnreadableBatchError | undefined
}

/** What the current poll may still return. */
type PollBudget = { bytes: number; records: number }

function hasRoom({ bytes, records }: PollBudget): boolean {
  return bytes > 0 && records > 0
}

/**
 * Keeps one fetch per node in flight while the caller processes earlier records. Positions advance by batch, so gaps
 * left by compaction and transactions are skipped.
 */
export class LogReader implements PartitionReader {
  readonly #parts: LogReaderDependencies
  readonly #isolation: Isolation
  readonly #pollBytesMax: number
  readonly #pollRecordsMax: number
  readonly #outOfRange: NonNullable<PartitionReaderOptions['outOfRange']>
  readonly #prefetchesAtEnd: boolean
  readonly #waitsForMissingTopics: boolean
  readonly #positions = new Map<string, Position>()
  readonly #busyNodes = new Set<number>()
  #failure: Error | undefined
  #isSignalled = false
  #woken = false
  #wakeUp: (() => void) | undefined
  #closed = false

  constructor(parts: LogReaderDependencies, options: PartitionReaderOptions = {}) {
    this.#parts = parts
    this.#isolation = options.isolation ?? 'read_committed'
    this.#pollBytesMax = options.pollBytesMax ?? POLL_BYTES_MAX
    this.#pollRecordsMax = options.pollRecordsMax ?? Number.POSITIVE_INFINITY
    this.#outOfRange = options.outOfRange ?? 'earliest'
    this.#prefetchesAtEnd = options.prefetchesAtEnd ?? true
    this.#waitsForMissingTopics = options.waitsForMissingTopics ?? false
  }

  seek(positions: readonly PartitionOffset[]): void {
    for (const { topic, partition, offset } of positions) {
      const key = topicPartitionKey({ topic, partition })
      const isPaused = this.#positions.get(key)?.isPaused ?? false
      this.#positions.set(key, {
        key,
        topic,
        partition,
        offset,
        endOffset: -1,
        isPaused,
        isFetching: false,
        fetchOffset: offset,
        fetched: [],
        surplus: [],
        damage: undefined,
      })
    }
    this.wake()
  }

  drop(partitions: readonly TopicPartition[]): void {
    for (const partition of partitions) this.#positions.delete(topicPartitionKey(partition))
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#setPaused(partitions, true)
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#setPaused(partitions, false)
    this.wake()
  }

  async poll(waitMsMax: number): Promise<readonly PartitionRecords[]> {
    const { clock } = this.#parts
    const endMs = clock.monotonicMs() + waitMsMax
    for (;;) {
      if (this.#closed) throw new BrokerError('closed', 'the reader is closed')
      this.#throwIfUnreadable()
      await this.#startFetches(this.#isEmptyOrBehind)
      const buffered = await this.#takeBuffered()
      if (buffered.length > 0) {
        await this.#startFetches(this.#isBehind)
        return buffered
      }
      if (!this.#prefetchesAtEnd) await this.#startFetches(this.#isEmptyOrBehind)
      this.#throwIfUnreadable()
      this.#throwFailure()
      const leftMs = endMs - clock.monotonicMs()
      if (this.#woken || leftMs <= 0) {
        this.#woken = false
        return []
      }
      await this.#waitForSignal(leftMs)
    }
  }

  wake(): void {
    this.#woken = true
    this.#signal()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#positions.clear()
    this.wake()
    this.#parts.onClose()
  }

  #setPaused(partitions: readonly TopicPartition[], isPaused: boolean): void {
    for (const partition of partitions) {
      const position = this.#positions.get(topicPartitionKey(partition))
      if (position) position.isPaused = isPaused
    }
  }

  /** Every poll throws once all earlier records have been returned. */
  #throwIfUnreadable(): void {
    for (const { damage, fetched, surplus, isPaused } of this.#positions.values())
      if (damage && !isPaused && fetched.length === 0 && surplus.length === 0) throw damage
  }

  #throwFailure(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure) throw failure
  }

  #waitForSignal(waitMs: number): Promise<void> {
    if (this.#isSignalled) {
      this.#isSignalled = false
      return Promise.resolve()
    }
    const waiting = new AbortController()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wakeUp = () => {
      resolve()
      waiting.abort(WAIT_ENDED)
    }
    this.#parts.clock.sleep(waitMs, waiting.signal).then(resolve, () => undefined)
    return promise
  }

  #signal(): void {
    this.#isSignalled = this.#wakeUp === undefined
    this.#wakeUp?.()
    this.#wakeUp = undefined
  }

  /** Whether the next fetch may be sent ahead: always, or while the position is before the end that the last fetch returned. */
  readonly #isBehind = ({ fetched, fetchOffset, endOffset }: Position): boolean =>
    this.#prefetchesAtEnd || fetchOffset < (fetched.at(-1)?.endOffset ?? endOffset)

  readonly #isEmptyOrBehind = (position: Position): boolean => position.fetched.length === 0 || this.#isBehind(position)

  /** Starts a fetch on each node that leads a partition without buffered records. */
  async #startFetches(isDue: (position: Position) => boolean): Promise<void> {
    const byNode = new Map<number, Position[]>()
    for (const position of this.#positions.values()) {
      if (!isDue(position)) continue
      if (position.damage || position.fetched.length >= AHEAD_MAX || position.isPaused || position.isFetching) continue
      const node = await this.#leaderOf(position)
      if (node < 0 || this.#busyNodes.has(node)) continue
      const positions = byNode.get(node)
      if (positions) positions.push(position)
      else byNode.set(node, [position])
    }
    for (const [node, positions] of byNode) if (!this.#busyNodes.has(node)) void this.#fetch(node, positions)
  }

  async #leaderOf(position: Position): Promise<number> {
    const known = this.#parts.topology.known(position.topic)?.[position.partition]
    if (known !== undefined && known >= 0) return known
    try {
      return (await this.#parts.topology.refresh(position.topic))[position.partition] ?? -1
    } catch (error) {
      this.#fail(error)
      return -1
    }
  }

  async #fetch(node: number, positions: readonly Position[]): Promise<void> {
    this.#busyNodes.add(node)
    for (const position of positions) position.isFetching = true
    try {
      const partitions = positions.map(({ topic, partition, fetchOffset }) => ({
        topic,
        partition,
        offset: fetchOffset,
      }))
      const responses = await this.#parts.backend.fetch({
        node,
        partitions,
        waitMsMax: FETCH_WAIT_MS,
        bytesMin: 1,
        bytesMax: this.#pollBytesMax,
        isolation: this.#isolation,
      })
      for (const response of responses) await this.#acceptResponse(response, positions)
    } catch (error) {
      await this.#backOff(error, positions)
    } finally {
      for (const position of positions) position.isFetching = false
      this.#busyNodes.delete(node)
      this.#signal()
    }
  }

  async #acceptResponse(response: FetchedPartition, requested: readonly Position[]): Promise<void> {
    const key = topicPartitionKey(response)
    const position = this.#positions.get(key)
    // The partition was moved or dropped since the request. After an unreadable batch, later ones are not needed.
    if (!position || position.damage || !requested.includes(position)) return
    if (response.error?.code === 'offset_out_of_range') return this.#moveIntoRange(position, response)
    const from = position.fetchOffset
    if (response.error?.code === 'corrupt_batch') position.damage = unreadableBatchError(position, from, response.error)
    else if (response.error)
      return this.#backOff(new BrokerError(response.error.code, response.error.message), [position])
    const { batches, error } = await this.#truncateAtEnd(parseFetchedBatches(response.bytes, from), response)
    position.fetchOffset = batches.at(-1)?.nextOffset ?? from
    if (error) position.damage ??= unreadableBatchError(position, position.fetchOffset, error)
    position.fetched.push(toCompletedFetch(batches, response))
  }

  /**
   * The end offset in a response may be older than its bytes, so it is requested again before a batch beyond it counts
   * as corrupt.
   */
  async #truncateAtEnd(readable: ReadableBatches, response: FetchedPartition): Promise<ReadableBatches> {
    const { topic, partition, endOffset } = response
    const last = readable.batches.at(-1)
    if (last === undefined || last.nextOffset <= endOffset) return readable
    const request = { partitions: [{ topic, partition }], at: 'latest', isolation: 'read_uncommitted' } as const
    const [end] = await this.#parts.backend.listOffsets(request)
    if (end === undefined || last.nextOffset <= end.offset) return readable
    const error = corruptBatchError(
      `its last offset is ${last.nextOffset - 1}, but the partition ends at ${end.offset}`,
    )
    return { batches: readable.batches.slice(0, -1), error }
  }

  async #moveIntoRange(position: Position, response: FetchedPartition): Promise<void> {
    if (this.#outOfRange === 'error') {
      this.#fail(
        new BrokerError(
          'offset_out_of_range',
          `${position.topic}-${position.partition} has no offset ${position.offset}: its offsets are ${response.startOffset} to ${response.endOffset}`,
        ),
      )
      return
    }
    const [found] = await this.#parts.backend.listOffsets({
      partitions: [position],
      at: this.#outOfRange,
      isolation: this.#isolation,
    })
    if (!found) return
    position.offset = found.offset
    position.fetchOffset = found.offset
  }

  /** Reports an error that is not retriable, refreshes the leaders and waits before the next fetch. */
  async #backOff(error: unknown, positions: readonly Position[]): Promise<void> {
    this.#fail(error)
    const topics = new Set(positions.map(({ topic }) => topic))
    await Promise.allSettled([...topics].map((topic) => this.#parts.topology.refresh(topic)))
    await this.#parts.clock.sleep(RETRY_WAIT_MS)
  }

  #fail(error: unknown): void {
    if (this.#waitsForMissingTopics && isMissing(error)) this.#parts.onMissingTopic?.()
    else if (!(error instanceof BrokerError && error.retriable) && !this.#closed) this.#failure ??= error as Error
  }

  async #takeBuffered(): Promise<PartitionRecords[]> {
    const taken: PartitionRecords[] = []
    const left = { bytes: DECODE_BYTES_MAX, records: this.#pollRecordsMax }
    for (const position of this.#positions.values()) {
      if (!hasRoom(left)) break
      if (!position.isPaused) await this.#takeFrom(position, left, taken)
    }
    return taken
  }

  async #takeFrom(position: Position, left: PollBudget, taken: PartitionRecords[]): Promise<void> {
    if (position.surplus.length > 0) taken.push(this.#cut(position, position.surplus, left))
    for (let fetched = position.fetched[0]; fetched && hasRoom(left); fetched = position.fetched[0]) {
      const records = await this.#take(position, fetched, left)
      if (records) taken.push(records)
      if (fetched.taken === fetched.batches.length) position.fetched.shift()
    }
  }

  /** Returns as many records as the poll may return and keeps the rest. The position is after all of them. */
  #cut(position: Position, records: readonly StoredRecord[], left: PollBudget): PartitionRecords {
    const { topic, partition, offset, endOffset } = position
    position.surplus = records.length > left.records ? records.slice(left.records) : []
    const delivered = position.surplus.length > 0 ? records.slice(0, left.records) : records
    left.records -= delivered.length
    countWork(delivered.length)
    return { topic, partition, records: delivered, nextOffset: position.surplus[0]?.offset ?? offset, endOffset }
  }

  async #take(position: Position, fetched: CompletedFetch, left: PollBudget): Promise<PartitionRecords | undefined> {
    const records: StoredRecord[] = []
    const before = { offset: position.offset, endOffset: position.endOffset }
    position.endOffset = fetched.endOffset
    for (let next = fetched.batches[fetched.taken]; next && hasRoom(left); next = fetched.batches[fetched.taken]) {
      if (records.length >= left.records) break
      fetched.taken += 1
      left.bytes -= next.bytes.length
      if (next.nextOffset > position.offset && !(await this.#decode(position, next, fetched.aborted, records))) break
      position.offset = Math.max(position.offset, next.nextOffset)
    }
    if (this.#positions.get(position.key) !== position) return undefined
    const { offset, endOffset } = position
    if (records.length === 0 && offset === before.offset && endOffset === before.endOffset) return undefined
    return this.#cut(position, records, left)
  }

  /** Returns whether the batch could be read. If not, the position stays here. */
  async #decode(
    position: Position,
    batch: Batch,
    aborted: CompletedFetch['aborted'],
    into: StoredRecord[],
  ): Promise<boolean> {
    try {
      // Checked first, because the fields that decide whether a batch is hidden may be corrupt, too.
      checkBatch(batch)
      if (isHiddenBatch(batch, aborted, this.#isolation)) return true
      for (const record of await recordsOf(batch, position.offset)) into.push(record)
      return true
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      position.damage = unreadableBatchError(position, position.offset, error)
      position.fetched.length = 0
      return false
    }
  }
}
