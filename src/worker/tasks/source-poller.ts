import { originalError } from '../../common/errors.ts'
import { listedName } from '../../plugins/plugin-catalog.ts'
import {
  type Position,
  parseConfig,
  type SourceConnector,
  type SourceContext,
  type SourceLag,
  type SourceRecord,
  type SourceSnapshot,
  type SourceTransaction,
  type StoredListener,
  type TopicReader,
  type TopicReaderOptions,
} from '../../sdk/index.ts'
import { partitionId } from '../stores/offset-state.ts'
import { lastOffsets, type SourceProgress } from './acknowledged-prefix.ts'
import { type ErrorPolicy, isRetriable } from './error-policy.ts'
import type { FailedSourceRecord } from './process-source-records.ts'
import type { RetryStatus } from './retry-status.ts'
import type { PolledBatch, TransactionEnd } from './source-delivery.ts'
import type { SourceListeners } from './stored-positions.ts'
import type { WorkerTaskContext } from './task-context.ts'

export type SourcePollerOptions = Pick<WorkerTaskContext, 'spec' | 'log' | 'clock' | 'counters' | 'access'> & {
  readonly source: SourceConnector
  readonly policy: ErrorPolicy
  /** Receives a record that the source rejected. Throws when the record may not be skipped. */
  readonly onFailedRecord: (record: FailedSourceRecord) => void
  /** Whether the connector defines the transaction boundaries. */
  readonly definesTransactions: boolean
  /** Opens a topic that the source reads. */
  readonly openTopic: (options: TopicReaderOptions) => Promise<TopicReader>
  /** Writes records that the source does not yield. */
  readonly report: SourceContext<unknown>['report']
  /** Receives the errors after which polling is retried. */
  readonly status: Pick<RetryStatus, 'setError'>
  /** Aborts when the task ends. */
  readonly signal: AbortSignal
}

/**
 * Polls a source batch by batch. After a retriable error the source is started anew behind its last batch, without a
 * limit on the number of attempts unless the error has one.
 */
export class SourcePoller {
  readonly #options: SourcePollerOptions
  readonly #config: Record<string, unknown>
  /** The offsets of the last batches, by partition. */
  readonly #reached: Map<string, Position>
  readonly #committed: Map<string, Position>
  #current: AsyncIterator<readonly SourceRecord[]>
  #failures = 0
  #onStored: StoredListener | undefined
  #onCommitted: (() => void) | undefined
  /** How the source ended the transaction with the batch that it returns next. */
  #end: TransactionEnd | undefined
  /** Offsets that the source set after the batch that it returns next. */
  #advanced: SourceProgress<Position>[] = []

  /** Throws a `ConfigError` when the configuration is invalid. */
  constructor(options: SourcePollerOptions) {
    const { source, spec } = options
    this.#options = options
    this.#config = parseConfig(source.config, spec.config)
    this.#reached = new Map(spec.offsets.map(({ partition, offset }) => [partitionId(partition), offset]))
    this.#committed = new Map(this.#reached)
    this.#current = this.#start()
  }

  /**
   * Resolves to undefined when the source has ended. An empty batch means no records for now, as after a retriable
   * error.
   */
  async next(): Promise<PolledBatch | undefined> {
    this.#end = undefined
    this.#advanced = []
    try {
      const { done, value } = await this.#current.next()
      if (done) return undefined
      this.#failures = 0
      this.#options.status.setError(undefined)
      const progress = [...lastOffsets(value), ...this.#advanced]
      for (const { partition, offset } of progress) this.#reached.set(partitionId(partition), offset)
      return { records: value, progress, end: this.#end }
    } catch (thrown) {
      const error = originalError(thrown)
      if (!isRetriable(error) || this.#options.signal.aborted) throw error
      if (!this.#options.policy.hasRetriesLeft(error, this.#failures)) throw error
      await this.#waitAfter(error)
      this.#current = this.#start()
      return { records: [], progress: [], end: undefined }
    }
  }

  get listeners(): SourceListeners {
    const onStored = this.#onStored
    return {
      isIndependent: onStored === undefined && this.#onCommitted === undefined,
      onStored: onStored && ((batch, positions) => this.#notify('stored records', () => onStored(batch, positions))),
      onCommitted: (committed) => {
        for (const { partition, offset } of committed) this.#committed.set(partitionId(partition), offset)
        this.#notify('committed offsets', () => this.#onCommitted?.())
      },
    }
  }

  /** Logs the error of a listener. The task continues, as in Kafka Connect, because the records are already in the log. */
  #notify(what: string, notify: () => void): void {
    Promise.try(notify).catch((error: unknown) => {
      this.#options.log.error({ err: error }, `the source failed when it was notified of ${what}; its task continues`)
    })
  }

  async close(): Promise<void> {
    await this.#current.return?.()
  }

  #start(): AsyncIterator<readonly SourceRecord[]> {
    const { source, spec, signal, log, access, definesTransactions, onFailedRecord, openTopic, report, counters } =
      this.#options
    const { connector, task, config: raw } = spec
    // A copy, because the positions that the source reaches after its start do not change where it resumes.
    const reached = new Map(this.#reached)
    const resumeFrom = (partition: Position) => reached.get(partitionId(partition))
    const committedOffset = (partition: Position) => this.#committed.get(partitionId(partition))
    const transaction: SourceTransaction = {
      commit: () => {
        this.#end = 'commit'
      },
      abort: () => {
        this.#end = 'abort'
      },
    }
    this.#onStored = undefined
    this.#onCommitted = undefined
    const onStored = (listener: StoredListener) => {
      this.#onStored = listener
    }
    const onCommitted = (listener: () => void) => {
      this.#onCommitted = listener
    }
    const advance = (partition: Position, offset: Position) => {
      this.#advanced.push({ partition, offset })
    }
    const reportLag = ({ ms, bytes, retainedBytes }: SourceLag) => {
      counters.sourceLagMs = ms
      counters.sourceLagBytes = bytes
      counters.sourceRetainedBytes = retainedBytes
    }
    const reportSnapshot = ({ rows, percent, remainingMs = 0 }: SourceSnapshot) => {
      counters.sourceSnapshotRows = rows
      counters.sourceSnapshotPercent = percent
      counters.sourceSnapshotRemainingMs = remainingMs
    }
    const reject = (record: SourceRecord, error: Error) =>
      onFailedRecord({ record, converted: undefined, stage: 'TASK_POLL', className: listedName(source), error })
    const context = {
      connector,
      task,
      config: this.#config,
      raw,
      files: access.files,
      network: access.network,
      signal,
      log,
      resumeFrom,
      committedOffset,
      onStored,
      onCommitted,
      advance,
      openTopic,
      report,
      reportLag,
      reportSnapshot,
      reject,
      isExactlyOnce: spec.transactionalId !== undefined,
      ...(definesTransactions && { transaction }),
    }
    return source.poll(context)[Symbol.asyncIterator]()
  }

  async #waitAfter(error: unknown): Promise<void> {
    const { policy, clock, signal, status } = this.#options
    const message = 'polling the source failed; it is restarted after a delay'
    const waitMs = policy.delayAfterMs(error, this.#failures++, message)
    status.setError(error)
    await clock.sleep(waitMs, signal).catch(() => undefined)
  }
}
