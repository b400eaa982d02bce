import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type {
  Isolation,
  PartitionOffset,
  PartitionReader,
  PartitionReaderOptions,
  PartitionRecords,
  StoredRecord,
  TopicPartition,
} from '../broker.ts'
import type { BrokerBackend, FetchedPartition, FetchRequest } from '../broker-backend.ts'
import { BrokerError, isMissing, isTransient, type UnreadableBatchError } from '../broker-error.ts'
import type { ClientDefaults } from '../client-settings.ts'
import type { MetadataCache } from '../metadata-cache.ts'
import { checkBatch } from '../record-batch/batch-header.ts'
import { startOffsetAt, topicPartitionKey } from '../topic-partition.ts'
import { type CompletedFetch, isHiddenBatch, toCompletedFetch } from './completed-fetch.ts'
import {
  corruptBatchError,
  parseFetchedBatches,
  type ReadableBatches,
  unreadableBatchError,
} from './fetched-batches.ts'
import { hasRoom, OpenBatch, type PollBudget } from './open-batch.ts'

const POLL_BYTES_MAX = 1 * 1024 * 1024
/**
 * Bytes that one poll decodes, after decompression. The event loop is not blocked for long, and the records of a poll
 * are garbage before V8 moves them to its old generation: with 512 KiB, a sink takes a third more CPU time.
 */
const DECODE_BYTES_MAX = 128 * 1024
const FETCH_WAIT_MS = 500
/** A warning names a partition that could not be read for this time. Transient errors are retried without a limit. */
const UNREAD_MS = 30_000
/** Buffered fetches per partition: the one being consumed and the next one. */
const AHEAD_MAX = 2

export type LogReaderDependencies = {
  readonly backend: BrokerBackend
  readonly topology: MetadataCache
  readonly clock: Clock
  readonly defaults: ClientDefaults
  readonly logger: Logger
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
  /** The batch that the last poll returned only a part of. */
  open: OpenBatch | undefined
  /** Why no batch after `fetched` can be read. Kept until the next seek: unreadable batches are never skipped. */
  damage: UnreadableBatchError | undefined
  /** Since when no fetch has succeeded, in ms of the monotonic clock; and whether that was logged. */
  failure: { readonly sinceMs: number; isLogged: boolean } | undefined
}

/**
 * Keeps one fetch per node in flight while the caller processes earlier records. Positions advance by batch, so gaps
 * left by compaction and transactions are skipped.
 */
export class LogReader implements PartitionReader {
  readonly #parts: LogReaderDependencies
  readonly #isolation: Isolation
  readonly #limits: Pick<FetchRequest, 'waitMsMax' | 'bytesMin' | 'bytesMax'>
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
    const { fetchWaitMsMax: waitMsMax = FETCH_WAIT_MS, fetchBytesMin: bytesMin = 1 } = options
    this.#limits = { waitMsMax, bytesMin, bytesMax: options.pollBytesMax ?? POLL_BYTES_MAX }
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
        open: undefined,
        damage: undefined,
        failure: undefined,
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
    for (const { damage, fetched, open, isPaused } of this.#positions.values())
      if (damage && !isPaused && fetched.length === 0 && open === undefined) throw damage
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
      const leader = (await this.#parts.topology.refresh(position.topic))[position.partition] ?? -1
      if (leader >= 0) return leader
      this.#logIfLasting(new BrokerError('not_leader', 'it has no leader'), position)
    } catch (error) {
      this.#fail(error, [position])
    }
    return -1
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
        ...this.#limits,
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
    else if (response.error) return this.#backOff(BrokerError.of(response.error), [position])
    position.failure = undefined
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
      at: startOffsetAt(this.#outOfRange, this.#parts.clock.nowMs()),
      isolation: this.#isolation,
    })
    if (!found) return
    position.offset = found.offset
    position.fetchOffset = found.offset
  }

  /** Reports an error that is not retriable, refreshes the leaders and waits before the next fetch. */
  async #backOff(error: unknown, positions: readonly Position[]): Promise<void> {
    this.#fail(error, positions)
    const topics = new Set(positions.map(({ topic }) => topic))
    await Promise.allSettled([...topics].map((topic) => this.#parts.topology.refresh(topic)))
    await this.#parts.clock.sleep(this.#parts.defaults.retryBackoff.firstMs)
  }

  #logIfLasting(error: unknown, position: Position): void {
    const { clock, logger } = this.#parts
    const { topic, partition, failure = { sinceMs: clock.monotonicMs(), isLogged: false } } = position
    position.failure = failure
    if (failure.isLogged || this.#closed || clock.monotonicMs() - failure.sinceMs < UNREAD_MS) return
    failure.isLogged = true
    logger.warn({ err: error, topic, partition }, `a partition cannot be read for ${UNREAD_MS / 1_000} s; retrying`)
  }

  #fail(error: unknown, positions: readonly Position[] = []): void {
    for (const position of positions) this.#logIfLasting(error, position)
    if (this.#waitsForMissingTopics && isMissing(error)) this.#parts.onMissingTopic?.()
    else if (!isTransient(error) && !this.#closed) this.#failure ??= error as Error
  }

  async #takeBuffered(): Promise<PartitionRecords[]> {
    const taken: PartitionRecords[] = []
    const left = { bytes: DECODE_BYTES_MAX, records: this.#pollRecordsMax }
    for (const position of this.#positions.values()) {
      if (!hasRoom(left)) break
      const records = position.isPaused ? undefined : await this.#take(position, left)
      if (records) taken.push(records)
    }
    return taken
  }

  /** Returns as many records as the poll may still return; undefined if there is nothing new. The position is after them. */
  async #take(position: Position, left: PollBudget): Promise<PartitionRecords | undefined> {
    const records: StoredRecord[] = []
    const before = { offset: position.offset, endOffset: position.endOffset }
    try {
      while (hasRoom(left)) {
        position.open ??= await this.#openNext(position)
        if (position.open === undefined) break
        position.open.take(left, records)
        position.offset = position.open.offset
        if (position.open.isDone) position.open = undefined
      }
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      position.offset = position.open?.offset ?? position.offset
      position.open = undefined
      position.fetched.length = 0
      position.damage = unreadableBatchError(position, position.offset, error)
    }
    if (this.#positions.get(position.key) !== position) return undefined
    const { topic, partition, offset, endOffset } = position
    if (records.length === 0 && offset === before.offset && endOffset === before.endOffset) return undefined
    return { topic, partition, records, nextOffset: offset, endOffset }
  }

  /** Opens the next batch with records for the caller; undefined if none is buffered. The position stays before a damaged one. */
  async #openNext(position: Position): Promise<OpenBatch | undefined> {
    for (let fetched = position.fetched[0]; fetched; fetched = position.fetched[0]) {
      position.endOffset = fetched.endOffset
      const batch = fetched.batches[fetched.taken]
      fetched.taken += 1
      if (batch === undefined) position.fetched.shift()
      else if (batch.nextOffset > position.offset) {
        // Checked first, because the fields that decide whether a batch is hidden may be corrupt, too.
        checkBatch(batch)
        if (!isHiddenBatch(batch, fetched.aborted, this.#isolation)) return OpenBatch.open(batch, position.offset)
        position.offset = batch.nextOffset
      }
    }
    return undefined
  }
}
