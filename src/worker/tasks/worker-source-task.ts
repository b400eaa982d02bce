import { UserError } from '../../common/errors.ts'
import { traced } from '../../common/tracing.ts'
import { unlessAborted } from '../../common/unless-aborted.ts'
import type { SourceConnector } from '../../sdk/index.ts'
import { missingConnector } from '../configuration/connector-plugin.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import { AtLeastOnceDelivery, type AtLeastOnceOptions } from './at-least-once-delivery.ts'
import { batchSpan } from './batch-span.ts'
import { ConnectorReports } from './connector-reports.ts'
import { type DeadLetterQueue, openDeadLetters } from './dead-letter-queue.ts'
import { ErrorPolicy } from './error-policy.ts'
import { ExactlyOnceDelivery } from './exactly-once-delivery.ts'
import { toDeadLetter, toRecordFailure } from './failed-source-record.ts'
import { Gate } from './gate.ts'
import { type FailedSourceRecord, processSourceRecords } from './process-source-records.ts'
import { RecordPipeline } from './record-pipeline.ts'
import { RetryStatus } from './retry-status.ts'
import type { SourceDelivery } from './source-delivery.ts'
import { SourceOffsets } from './source-offsets.ts'
import { SourcePoller } from './source-poller.ts'
import { TaskClients } from './task-clients.ts'
import type { WorkerTaskContext } from './task-context.ts'
import { countBatch } from './task-counters.ts'
import { TaskTopics } from './task-topics.ts'

/** Bounds of the transaction timeout, in ms. The maximum is the brokers' default for `transaction.max.timeout.ms`. */
const TRANSACTION_MS_MIN = 60_000
const TRANSACTION_MS_MAX = 900_000

/** The collaborators of a running task. */
type RunningSource = {
  readonly clients: TaskClients
  readonly poller: SourcePoller
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  readonly delivery: SourceDelivery
  /** Counts a failed record and adds it to the dead-letter queue. Throws when the record may not be skipped. */
  readonly onFailedRecord: (failed: FailedSourceRecord) => void
  readonly deadLetters: DeadLetterQueue | undefined
}

/** Runs one source task: polls, converts, produces and commits until the task is stopped or fails. */
export class WorkerSourceTask {
  readonly #context: WorkerTaskContext
  readonly #resumed: Gate
  readonly #failed = new AbortController()
  /** Aborts when the task is stopped or fails. */
  readonly #ending: AbortSignal
  readonly #status: RetryStatus
  #paused: boolean

  constructor(context: WorkerTaskContext) {
    this.#context = context
    this.#paused = context.spec.paused
    this.#status = new RetryStatus(context.report, () => this.#paused)
    this.#ending = AbortSignal.any([context.signal, this.#failed.signal])
    this.#resumed = new Gate(() => !this.#paused, this.#ending)
  }

  setPaused(paused: boolean): void {
    if (this.#paused === paused) return
    this.#paused = paused
    this.#status.reportState()
    this.#resumed.changed()
  }

  /** Resolves when the task is stopped, also if its source ended earlier. Rejects when the task fails. */
  async run(): Promise<void> {
    const { spec, broker, connect, access, log, clock, counters, signal } = this.#context
    if (this.#paused) this.#status.reportState()
    await this.#resumed.pass(this.#ending)
    if (signal.aborted) return
    const source = this.#findSource()
    await using resources = new AsyncDisposableStack()
    const pipeline = await RecordPipeline.open(this.#context)
    resources.adopt(pipeline, (open) => open.close())
    const clients = new TaskClients({ spec, broker, connect, log, clock, signal: this.#ending, status: this.#status })
    resources.adopt(clients, () => clients.close())
    const reports = new ConnectorReports(clients)
    resources.adopt(reports, () => reports.close())
    const deadLetters = await openDeadLetters(this.#context, clients, resources, this.#ending)
    const { errors: config } = parseTaskConfig(spec.config)
    const policy = new ErrorPolicy({ config, counters, log, clock, signal: this.#ending })
    const onFailedRecord = (failed: FailedSourceRecord) => {
      policy.tolerate(toRecordFailure(failed))
      deadLetters?.add(toDeadLetter(failed))
    }
    const poller = new SourcePoller({
      spec,
      log,
      clock,
      counters,
      access,
      source,
      policy,
      onFailedRecord,
      definesTransactions: this.#definesTransactions(source),
      openTopic: (options) => clients.topicReader(options),
      report: (topic, records) => reports.write(topic, records),
      status: this.#status,
      signal: this.#ending,
    })
    resources.adopt(poller, () => poller.close())
    const skipRejected = async (records: readonly FailedSourceRecord[]) => {
      for (const record of records) onFailedRecord(record)
      await deadLetters?.flush()
    }
    const delivery = await this.#openDelivery(clients, { skipRejected, listeners: () => poller.listeners })
    const committing = this.#commitRegularly(delivery)
    try {
      this.#status.reportState()
      await this.#deliverBatches({ clients, poller, pipeline, policy, delivery, onFailedRecord, deadLetters })
    } finally {
      this.#failed.abort()
      await committing
      await delivery.close()
    }
  }

  /**
   * Returns whether the connector defines the transaction boundaries. Throws a `UserError` when the configuration
   * requests this of a connector that cannot do it: its transactions would never be committed.
   */
  #definesTransactions({ definesTransactions = false, class: name }: SourceConnector): boolean {
    const { config, transactionalId } = this.#context.spec
    const isRequested = transactionalId !== undefined && parseTaskConfig(config).transactions.boundary === 'connector'
    if (isRequested && !definesTransactions) {
      throw new UserError(
        'invalid_config',
        `${name} defines no transactions: set transaction.boundary to poll or interval`,
      )
    }
    return isRequested
  }

  async #deliverBatches(running: RunningSource): Promise<void> {
    const { clients, poller, pipeline, policy, delivery, onFailedRecord, deadLetters } = running
    const { counters, clock, log, spec, report } = this.#context
    const topics = new TaskTopics({ clients, clock, log, spec, report })
    const conversion = { pipeline, policy, recordBytesMax: clients.recordBytesMax, onFailedRecord }
    for (;;) {
      await this.#resumed.pass(this.#ending)
      if (this.#ending.aborted) break
      const startMs = clock.monotonicMs()
      const batch = await poller.next()
      if (batch === undefined) return this.#waitForStop()
      const { records, progress, end } = batch
      if (records.length === 0 && progress.length === 0 && end === undefined) {
        // The poll may have rejected records.
        await deadLetters?.flush()
        continue
      }
      counters.recordsIn += records.length
      if (records.length > 0) countBatch(counters, records.length, clock.monotonicMs() - startMs)
      const { name, options } = batchSpan(spec, records, records.length)
      const isDelivered = await traced(name, options, async () => {
        // A schema registry that does not respond must not delay the end of the task: the worker would kill its process, with other tasks in it.
        const converted = await unlessAborted(processSourceRecords(records, conversion), this.#ending)
        if (converted === undefined) return false
        // Dead letters are flushed before the batch is delivered, because the offsets of the batch skip their records.
        await deadLetters?.flush()
        await topics.ensureTopicsOf(converted.records)
        await delivery.deliver(converted, batch)
        return true
      })
      if (!isDelivered) break
    }
  }

  /** A source without more records has not failed: its task keeps running until it is stopped. */
  async #waitForStop(): Promise<void> {
    this.#context.log.info({}, 'the source has no more records')
    await new Gate(() => false, this.#ending).pass(this.#ending)
  }

  async #commitRegularly(delivery: SourceDelivery): Promise<void> {
    const { clock } = this.#context
    while (!this.#ending.aborted) {
      await clock.sleep(this.#commitIntervalMs(), this.#ending).catch(() => undefined)
      if (!this.#ending.aborted) await delivery.commit()
    }
  }

  #commitIntervalMs(): number {
    const { config, worker, transactionalId } = this.#context.spec
    const { boundary, intervalMs } = parseTaskConfig(config).transactions
    const hasOwnInterval = transactionalId !== undefined && boundary === 'interval' && intervalMs !== undefined
    return hasOwnInterval ? intervalMs : worker.commitIntervalMs
  }

  async #openDelivery(
    clients: TaskClients,
    { skipRejected, listeners }: Required<Pick<AtLeastOnceOptions, 'skipRejected' | 'listeners'>>,
  ): Promise<SourceDelivery> {
    const { counters, clock, log, spec } = this.#context
    const { transactionalId, fencedAs, config } = spec
    const { errors, transactions } = parseTaskConfig(config)
    const offsets = new SourceOffsets(spec)
    const onFailure = () => this.#failed.abort()
    if (transactionalId === undefined) {
      return new AtLeastOnceDelivery({
        // A record is retried without a time limit while its broker is unavailable; the source waits meanwhile.
        producer: await clients.producer({ deliveryTimeoutMs: 2 ** 31 - 1, signal: this.#ending }),
        offsetsProducer: await clients.offsetsProducer(),
        offsets,
        skipRejected,
        listeners,
        logsContent: errors.log && errors.logRecords,
        counters,
        clock,
        commitTimeoutMs: spec.worker.commitTimeoutMs,
        log,
        signal: this.#ending,
        onFailure,
      })
    }
    const { boundary } = transactions
    const transactionTimeoutMs = Math.min(
      TRANSACTION_MS_MAX,
      Math.max(TRANSACTION_MS_MIN, 2 * this.#commitIntervalMs()),
    )
    const signal = this.#ending
    const producer = await clients.transactionalProducer({
      transactionalId,
      transactionTimeoutMs,
      signal,
      ...(fencedAs && { successorOf: fencedAs }),
    })
    return new ExactlyOnceDelivery({ producer, offsets, counters, clock, boundary, listeners, signal, onFailure })
  }

  #findSource(): SourceConnector {
    const { plugins, spec } = this.#context
    const source = plugins.find('source', spec.config['connector.class'] ?? '', spec.config['connector.plugin.version'])
    if (!source) throw missingConnector(plugins, spec.config)
    return source
  }
}
