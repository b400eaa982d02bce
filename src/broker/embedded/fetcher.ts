import { type Clock, WAIT_ENDED } from '../../common/clock.ts'
import type { FetchedPartition, FetchRequest } from '../broker-backend.ts'
import { BrokerError } from '../broker-error.ts'
import { gapBatch } from '../record-batch/batch-header.ts'
import type { BatchChunks, BatchStore } from './batch-store.ts'
import type { Partition } from './partition.ts'
import type { TopicCatalog } from './topic-catalog.ts'

type Options = {
  readonly catalog: TopicCatalog
  readonly log: BatchStore
  readonly clock: Clock
}

type RequestedPartition = FetchRequest['partitions'][number]
type Collected = { readonly response: readonly FetchedPartition[]; readonly complete: boolean }

/** Serves fetch requests: immediately if enough data is available, otherwise when data arrives or the wait ends. */
export class Fetcher {
  readonly #catalog: TopicCatalog
  readonly #batches: BatchStore
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()
  #closed = false

  constructor({ catalog, log, clock }: Options) {
    this.#catalog = catalog
    this.#batches = log
    this.#clock = clock
  }

  async fetch(request: FetchRequest): Promise<readonly FetchedPartition[]> {
    const deadlineMs = this.#clock.monotonicMs() + request.waitMsMax
    for (;;) {
      if (this.#closed) throw new BrokerError('closed', 'the embedded broker is closed')
      const { response, complete } = this.#collect(request)
      const leftMs = deadlineMs - this.#clock.monotonicMs()
      if (complete || leftMs <= 0) return response
      await this.#waitForAppend(request, leftMs)
    }
  }

  /** Rejects waiting fetches with `closed`. */
  close(): void {
    this.#closed = true
    for (const done of this.#waiting) done()
  }

  #collect(request: FetchRequest): Collected {
    let leftBytes = request.bytesMax
    let failed = false
    const response = request.partitions.map((requested, index): FetchedPartition => {
      // A fair share, so that a partition that lags far behind does not starve the others.
      const share = Math.ceil(leftBytes / (request.partitions.length - index))
      const firstBytesMax = leftBytes === request.bytesMax ? Number.POSITIVE_INFINITY : leftBytes
      const fetched = this.#read(requested, request, { bytesMax: share, firstBytesMax })
      failed ||= fetched.error !== undefined
      leftBytes -= fetched.bytes.length
      return fetched
    })
    const sizeBytes = request.bytesMax - leftBytes
    return { response, complete: failed || sizeBytes >= request.bytesMin }
  }

  #read(
    requested: RequestedPartition,
    request: FetchRequest,
    limit: { readonly bytesMax: number; readonly firstBytesMax: number },
  ): FetchedPartition {
    const { topic, partition: number, offset } = requested
    const nothing = { topic, partition: number, bytes: new Uint8Array(0), aborted: [] }
    const description = `topic '${topic}', partition ${number}`
    const partition = this.#catalog.find(topic)?.partitions[number]
    if (partition === undefined) {
      const message = `topic '${topic}' has no partition ${number}`
      return { ...nothing, startOffset: -1, endOffset: -1, error: { code: 'topic_not_found', message } }
    }
    const { startOffset } = partition
    const endOffset = request.isolation === 'read_committed' ? partition.stableOffset : partition.endOffset
    if (offset < startOffset || offset > partition.endOffset) {
      const message = `${description}: offset ${offset} is out of range: expected ${startOffset} to ${partition.endOffset}`
      return { ...nothing, startOffset, endOffset, error: { code: 'offset_out_of_range', message } }
    }
    if (offset >= endOffset) return { ...nothing, startOffset, endOffset }
    try {
      return { ...nothing, startOffset, endOffset, bytes: this.#bytes(partition, { offset, endOffset }, limit) }
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      const message = error.message.startsWith('topic ')
        ? error.message
        : `${description} at offset ${offset}: ${error.message}`
      return { ...nothing, startOffset, endOffset, error: { code: error.code, message } }
    }
  }

  /** If all batches up to the end were removed, returns a batch without records, so that readers continue after it. */
  #bytes(
    partition: Partition,
    range: { readonly offset: number; readonly endOffset: number },
    limit: { readonly bytesMax: number; readonly firstBytesMax: number },
  ): Uint8Array {
    const batches = this.#batches.read(partition, range, limit)
    if (batches.chunks.length > 0 || batches.more) return concatenate(batches)
    return gapBatch(range.offset, range.endOffset)
  }

  #waitForAppend(request: FetchRequest, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = new AbortController()
      const partitions = request.partitions.map((at) => this.#catalog.find(at.topic)?.partitions[at.partition])
      const done = () => {
        timer.abort(WAIT_ENDED)
        this.#waiting.delete(done)
        for (const partition of partitions) partition?.offChange(done)
        resolve()
      }
      this.#waiting.add(done)
      for (const partition of partitions) partition?.onChange(done)
      this.#clock.sleep(waitMs, timer.signal).then(done, done)
    })
  }
}

function concatenate({ chunks, sizeBytes }: BatchChunks): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  // Not from the pool of Buffer, because the memory may be transferred to another thread.
  const whole = Buffer.allocUnsafeSlow(sizeBytes)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}
