import { UserError } from '../../config/errors.ts'
import type { SourceConnector } from '../../sdk/index.ts'
import { missingConnector } from '../configuration/connector-plugin.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import { partitionId, toOffsetKey } from '../stores/offset-state.ts'
import { ownOffsetsTopic } from '../stores/offset-store.ts'
import { AtLeastOnceDelivery, type AtLeastOnceOptions } from './at-least-once-delivery.ts'
import { DeadLetterQueue } from './dead-letter-queue.ts'
import { ErrorPolicy } from './error-policy.ts'
import { ExactlyOnceDelivery } from './exactly-once-delivery.ts'
import { toDeadLetter, toRecordFailure } from './failed-source-record.ts'
import { Gate } from './gate.ts'
import { createRecordPipeline, type RecordPipeline } from './record-pipeline.ts'
import type { OffsetEncoder, SourceDelivery } from './source-delivery.ts'
import { SourcePoller } from './source-poller.ts'
import { convertSourceRecords, type FailedSourceRecord } from './source-records.ts'
import { TaskClients } from './task-clients.ts'
import type { WorkerTaskContext } from './task-context.ts'
import { countBatch } from './task-counters.ts'
import { TaskTopics } from './task-topics.ts'

/** Bounds of the transaction timeout, in ms. The maximum is the brokers' default for `transaction.max.timeout.ms`. */
const TRANSACTION_MS_MIN = 60_000
const TRANSACTION_MS_MAX = 900_000

/** The parts of a running task. */
type Work = {
  readonly clients: TaskClients
  readonly batches: SourcePoller
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  readonly delivery: SourceDelivery
  /** Counts a failed record and adds it to the dead-letter queue. Throws when the record may not be skipped. */
  readonly lost: (record: FailedSourceRecord) => void
  readonly letters: DeadLetterQueue | undefined
}

/** Runs one source task: polls, converts, produces and commits until the task is stopped or fails. */
export class WorkerSourceTask {
  readonly #parts: WorkerTaskContext
  readonly #running: Gate
  readonly #failed = new AbortController()
  /** Aborts when the task is stopped or fails. */
  readonly #ending: AbortSignal
  #paused: boolean

  constructor(parts: WorkerTaskContext) {
    this.#parts = parts
    this.#paused = parts.spec.paused
    this.#ending = AbortSignal.any([parts.signal, this.#failed.signal])
    this.#running = new Gate(() => !this.#paused, this.#ending)
  }

  setPaused(paused: boolean): void {
    if (this.#paused === paused) return
    this.#paused = paused
    this.#parts.report({ type: paused ? 'paused' : 'running' })
    this.#running.changed()
  }

  /** Resolves when the task is stopped, also if its source ended earlier. Rejects when the task fails. */
  async run(): Promise<void> {
    const { spec, report, signal, access } = this.#parts
    if (this.#paused) report({ type: 'paused' })
    await this.#running.pass(this.#ending)
    if (signal.aborted) return
    const source = this.#source()
    const pipeline = createRecordPipeline(this.#parts.plugins, spec.config, spec.worker.converters, access)
    await using held = new AsyncDisposableStack()
    const clients = new TaskClients(this.#parts)
    held.adopt(clients, () => clients.close())
    const letters = await this.#deadLetters(clients, held)
    const policy = this.#policy()
    const definesTransactions = this.#definesTransactions(source)
    const lost = (record: FailedSourceRecord) => {
      policy.tolerate(toRecordFailure(record))
      letters?.add(toDeadLetter(record))
    }
    const batches = new SourcePoller({
      ...this.#parts,
      source,
      policy,
      lost,
      definesTransactions,
      signal: this.#ending,
    })
    held.adopt(batches, () => batches.close())
    const stepOver = async (records: readonly FailedSourceRecord[]) => {
      for (const record of records) lost(record)
      await letters?.flush()
    }
    const delivery = await this.#delivery(clients, { stepOver, listener: () => batches.listener })
    const committing = this.#commitRegularly(delivery)
    try {
      report({ type: 'running' })
      await this.#pump({ clients, batches, pipeline, policy, delivery, lost, letters })
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
    const { config, transactionalId } = this.#parts.spec
    const isAsked = transactionalId !== undefined && parseTaskConfig(config).transactions.boundary === 'connector'
    if (isAsked && !definesTransactions) {
      throw new UserError(
        'invalid_config',
        `${name} defines no transactions: set transaction.boundary to poll or interval`,
      )
    }
    return isAsked
  }

  #policy(): ErrorPolicy {
    return new ErrorPolicy({
      ...this.#parts,
      config: parseTaskConfig(this.#parts.spec.config).errors,
      signal: this.#ending,
    })
  }

  async #pump({ clients, batches, pipeline, policy, delivery, lost, letters }: Work): Promise<void> {
    const { counters, clock } = this.#parts
    const topics = new TaskTopics({ ...this.#parts, clients })
    const bounds = { recordBytesMax: clients.recordBytesMax, lost }
    for (;;) {
      await this.#running.pass(this.#ending)
      if (this.#ending.aborted) break
      const startMs = clock.monotonicMs()
      const batch = await batches.next()
      if (batch === undefined) return this.#rest()
      const { records, end } = batch
      if (records.length === 0 && end === undefined) {
        // Records that the source itself rejected.
        await letters?.flush()
        continue
      }
      counters.recordsIn += records.length
      countBatch(counters, records.length, clock.monotonicMs() - startMs)
      const outgoing = await convertSourceRecords(records, pipeline, policy, bounds)
      // Dead letters are flushed before the batch is delivered, because the offsets of the batch skip their records.
      await letters?.flush()
      await topics.prepare(outgoing.records)
      await delivery.deliver(outgoing, records, end)
    }
  }

  /** Waits for the stop of the task: a source without more records has not failed, and its task keeps running. */
  async #rest(): Promise<void> {
    this.#parts.log.info({}, 'the source has come to its end')
    await new Gate(() => false, this.#ending).pass(this.#ending)
  }

  async #commitRegularly(delivery: SourceDelivery): Promise<void> {
    const { clock } = this.#parts
    while (!this.#ending.aborted) {
      await clock.sleep(this.#commitIntervalMs(), this.#ending).catch(() => undefined)
      if (!this.#ending.aborted) await delivery.commit()
    }
  }

  #commitIntervalMs(): number {
    const { config, worker, transactionalId } = this.#parts.spec
    const { boundary, intervalMs } = parseTaskConfig(config).transactions
    const isOwn = transactionalId !== undefined && boundary === 'interval' && intervalMs !== undefined
    return isOwn ? intervalMs : worker.commitIntervalMs
  }

  async #delivery(
    clients: TaskClients,
    { stepOver, listener }: Required<Pick<AtLeastOnceOptions, 'stepOver' | 'listener'>>,
  ): Promise<SourceDelivery> {
    const { counters, clock, log, spec } = this.#parts
    const { transactionalId, config } = spec
    const onFailure = () => this.#failed.abort()
    const parts = { toOffsets: this.#offsets(), counters, clock, log, signal: this.#ending, onFailure, listener }
    // A record is retried without a time limit while its broker is unavailable; the source waits meanwhile.
    if (transactionalId === undefined) {
      const producer = await clients.producer({ deliveryTimeoutMs: 2 ** 31 - 1 })
      const { commitTimeoutMs } = spec.worker
      const offsetsProducer = await clients.offsetsProducer()
      return new AtLeastOnceDelivery({ ...parts, commitTimeoutMs, producer, offsetsProducer, stepOver })
    }
    const { boundary } = parseTaskConfig(config).transactions
    const transactionTimeoutMs = Math.min(
      TRANSACTION_MS_MAX,
      Math.max(TRANSACTION_MS_MIN, 2 * this.#commitIntervalMs()),
    )
    return new ExactlyOnceDelivery({
      ...parts,
      boundary,
      producer: await clients.transactionalProducer({ transactionalId, transactionTimeoutMs }),
    })
  }

  async #deadLetters(clients: TaskClients, held: AsyncDisposableStack): Promise<DeadLetterQueue | undefined> {
    const { spec } = this.#parts
    const { deadLetters: config } = parseTaskConfig(spec.config)
    if (config === undefined) return undefined
    const letters = await DeadLetterQueue.open({ ...this.#parts, clients, config, task: spec, secrets: spec.secrets })
    held.adopt(letters, () => letters.close())
    return letters
  }

  #offsets(): OffsetEncoder {
    const { connector, offsets, worker, config } = this.#parts.spec
    const keys = new Map(offsets.map(({ key, partition }) => [partitionId(partition), key]))
    const topics = new Set([ownOffsetsTopic(config) ?? worker.offsetsTopic, worker.offsetsTopic])
    return (entries) =>
      entries.flatMap(({ partition, offset }) => {
        const key = keys.get(partitionId(partition)) ?? toOffsetKey(connector, partition)
        const value = Buffer.from(JSON.stringify(offset))
        return [...topics].map((topic) => ({ topic, key, value }))
      })
  }

  #source(): SourceConnector {
    const className = this.#parts.spec.config['connector.class'] ?? ''
    const source = this.#parts.plugins.find('source', className)
    if (!source) throw missingConnector(this.#parts.plugins, this.#parts.spec.config)
    return source
  }
}
