import type { SendResult } from '../../broker/broker.ts'
import type { Clock } from '../../common/clock.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Position, StoredListener, TaskLog } from '../../sdk/index.ts'
import { partitionId } from '../stores/offset-state.ts'
import type { GuardedProducer } from '../topic-access/guarded-broker.ts'
import { AcknowledgedPrefix } from './acknowledged-prefix.ts'
import { commitOffsets } from './commit-offsets.ts'
import { InFlightRecords } from './in-flight-records.ts'
import {
  bytesOf,
  type ConvertedBatch,
  type FailedSourceRecord,
  producerFailure,
  withoutContent,
} from './process-source-records.ts'
import type { PolledBatch, SourceDelivery } from './source-delivery.ts'
import type { SourceOffsets } from './source-offsets.ts'
import { NOTHING_SENT, type SourceListeners, storedPositions } from './stored-positions.ts'
import type { TaskCounters } from './task-counters.ts'

export type AtLeastOnceOptions = {
  readonly producer: Pick<GuardedProducer, 'send' | 'sendSourceOffsets' | 'close'>
  /**
   * Set when the task's producer uses another connection than the worker, and so cannot write the offsets. Default:
   * `producer`.
   */
  readonly offsetsProducer?: AtLeastOnceOptions['producer'] | undefined
  readonly offsets: SourceOffsets
  /**
   * Receives the records of a batch that the brokers rejected as invalid. Resolves when they may be skipped; else
   * rejects.
   */
  readonly skipRejected: (rejected: readonly FailedSourceRecord[]) => Promise<void>
  readonly listeners?: () => SourceListeners
  /** Whether the content of a rejected record is logged, so that it is kept until the record is stored. */
  readonly logsContent: boolean
  readonly counters: TaskCounters
  readonly clock: Clock
  /** Timeout of a commit, in ms. */
  readonly commitTimeoutMs: number
  readonly log: TaskLog
  readonly signal: AbortSignal
  /** Called when a write fails for good, so that the task stops polling and fails. */
  readonly onFailure: () => void
}

/** Called when a batch is stored, except for the records that the brokers rejected. */
type OnStored = (sent: SendResult, rejected: readonly FailedSourceRecord[]) => void

/**
 * Produces batches without waiting for the acknowledgement of earlier ones, up to a limit. Stores offsets only for the
 * longest acknowledged prefix: after a crash, records can be repeated but none is lost.
 */
export class AtLeastOnceDelivery implements SourceDelivery {
  readonly #options: AtLeastOnceOptions
  readonly #prefix = new AcknowledgedPrefix<Position>(partitionId)
  readonly #inFlight: InFlightRecords
  readonly #commitErrors = new ErrorDeduplicator()
  #failure: unknown
  #committing: Promise<void> = Promise.resolve()

  constructor(options: AtLeastOnceOptions) {
    this.#options = options
    this.#inFlight = new InFlightRecords(options.counters, options.signal)
  }

  async deliver(outgoing: ConvertedBatch, batch: PolledBatch): Promise<void> {
    const { onStored: listener } = this.#options.listeners?.() ?? {}
    const acknowledge = this.#prefix.add(batch.progress)
    const onStored = listener === undefined ? acknowledge : notifying(listener, acknowledge, outgoing, batch)
    const keepsContent = listener !== undefined || this.#options.logsContent
    if (outgoing.records.length === 0) onStored(NOTHING_SENT, [])
    else this.#send(keepsContent ? outgoing : { ...outgoing, sources: outgoing.sources.map(withoutContent) }, onStored)
    await this.#inFlight.waitForRoom()
    if (this.#failure !== undefined) throw this.#failure
  }

  commit(): Promise<void> {
    this.#committing = this.#committing.then(() => this.#commit())
    return this.#committing
  }

  async close(): Promise<void> {
    await this.#inFlight.settled()
    await this.commit()
    await this.#options.producer.close()
    await this.#options.offsetsProducer?.close()
    if (this.#failure !== undefined) throw this.#failure
  }

  #send(outgoing: ConvertedBatch, onStored: OnStored): void {
    const { records, sources, bytes } = outgoing
    const { counters, producer, skipRejected } = this.#options
    const rejected: FailedSourceRecord[] = []
    let rejectedBytes = 0
    const sent = producer
      .send(records, (index, error) => {
        rejected.push(producerFailure(sources[index]!, records[index]!, error))
        rejectedBytes += bytesOf(records[index]!)
      })
      .then(async (result) => {
        if (rejected.length > 0) await skipRejected(rejected)
        counters.recordsOut += records.length - rejected.length
        counters.bytesOut += bytes - rejectedBytes
        onStored(result, rejected)
      })
      .catch((error: unknown) => {
        this.#failure ??= error
        this.#options.onFailure()
      })
    this.#inFlight.add(outgoing, sent)
  }

  async #commit(): Promise<void> {
    const {
      producer,
      offsetsProducer = producer,
      offsets,
      counters,
      clock,
      commitTimeoutMs: timeoutMs,
      log,
    } = this.#options
    const ready = this.#prefix.take()
    if (ready.length === 0) {
      // As in Kafka Connect: a source may do in `commit` what it could not do before.
      this.#options.listeners?.().onCommitted?.([])
      return
    }
    const startMs = clock.monotonicMs()
    // A send that exceeds the timeout can still succeed. The next commit writes to the same partition, and so after it.
    const sent = Promise.try(() => offsetsProducer.sendSourceOffsets(offsets.encode(ready)))
    if (await commitOffsets(sent, { counters, clock, log, timeoutMs, startMs, errors: this.#commitErrors }))
      this.#options.listeners?.().onCommitted?.(ready)
    else this.#prefix.restore(ready)
  }
}

/** A function of its own, because a closure in `deliver` would keep the source records of every batch until it is stored. */
function notifying(
  listener: StoredListener,
  acknowledge: () => void,
  outgoing: ConvertedBatch,
  { records: batch }: PolledBatch,
): OnStored {
  return (sent, rejected) => {
    acknowledge()
    listener(batch, () => storedPositions(batch, outgoing, sent, new Set(rejected.map(({ record }) => record))))
  }
}
