import type { Broker } from '../../broker/broker.ts'
import type { Clock } from '../../config/clock.ts'
import { UserError } from '../../config/errors.ts'
import type { Catalog } from '../../plugins/catalog.ts'
import type { HostAccess, SourceConnector, TaskLog } from '../../sdk/index.ts'
import { missingConnector } from '../configuration/connector-plugin.ts'
import { parseTaskConfig } from '../configuration/task-config.ts'
import type { RawConfig } from '../stores/config-codec.ts'
import { partitionId, toOffsetKey } from '../stores/offset-state.ts'
import { ownOffsetsTopic } from '../stores/offset-store.ts'
import { AtLeastOnce, type AtLeastOnceParts } from './at-least-once-delivery.ts'
import { DeadLetters } from './dead-letter-queue.ts'
import { ErrorPolicy } from './error-policy.ts'
import { ExactlyOnce } from './exactly-once-delivery.ts'
import { Gate } from './gate.ts'
import { SourceBatches } from './source-batches.ts'
import type { Delivery, OffsetWriter } from './source-delivery.ts'
import { toDeadLetter, toFailure } from './source-failure.ts'
import { type LostRecord, toOutgoing } from './source-records.ts'
import { TaskClients } from './task-clients.ts'
import { countBatch, type TaskCounters } from './task-counters.ts'
import type { TaskMessage, TaskSpec } from './task-spec.ts'
import { TaskTopics } from './task-topics.ts'
import { createPipeline, type Pipeline } from './transformation-chain.ts'

/** Brokers refuse more than the longer one by default. */
const TRANSACTION_MS_MIN = 60_000
const TRANSACTION_MS_MAX = 900_000

/** What a task works with; made anew in every thread. */
export type TaskParts = {
  readonly spec: TaskSpec
  readonly broker: Broker
  /**
   * Opens another broker, for clients that have these keys of Kafka's clients for themselves; its caller closes it.
   * `overrides` are those of them that the connector wrote. Undefined when it would be the same.
   */
  readonly connect: (connection: RawConfig, overrides: RawConfig) => Promise<Broker | undefined>
  readonly plugins: Catalog
  /** What the connector may use. */
  readonly access: HostAccess
  readonly log: TaskLog
  readonly clock: Clock
  readonly counters: TaskCounters
  readonly report: (message: TaskMessage) => void
  /** Aborts when the task has to stop. */
  readonly signal: AbortSignal
}

/** What there is while the task is at work. */
type Work = {
  readonly clients: TaskClients
  readonly batches: SourceBatches
  readonly pipeline: Pipeline
  readonly policy: ErrorPolicy
  readonly delivery: Delivery
  /** Throws when this record may not be stepped over. */
  readonly lost: (record: LostRecord) => void
  readonly letters: DeadLetters | undefined
}

/** The life of one source task: poll, convert, produce, commit, until it is stopped or fails. */
export class SourceTask {
  readonly #parts: TaskParts
  readonly #running: Gate
  readonly #failed = new AbortController()
  /** Aborts when the task ends, for whatever reason. */
  readonly #ending: AbortSignal
  #paused: boolean

  constructor(parts: TaskParts) {
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

  /** Resolves when the task was stopped, or its source has nothing more; rejects when it failed. */
  async run(): Promise<void> {
    const { spec, report, signal, access } = this.#parts
    if (this.#paused) report({ type: 'paused' })
    await this.#running.pass(this.#ending)
    if (signal.aborted) return
    const source = this.#source()
    const pipeline = createPipeline(this.#parts.plugins, spec.config, spec.worker.converters, access)
    await using held = new AsyncDisposableStack()
    const clients = new TaskClients(this.#parts)
    held.adopt(clients, () => clients.close())
    const letters = await this.#deadLetters(clients, held)
    const policy = this.#policy()
    const definesTransactions = this.#definesTransactions(source)
    const lost = (record: LostRecord) => {
      policy.tolerate(toFailure(record))
      letters?.add(toDeadLetter(record))
    }
    const batches = new SourceBatches({
      ...this.#parts,
      source,
      policy,
      lost,
      definesTransactions,
      signal: this.#ending,
    })
    held.adopt(batches, () => batches.close())
    const stepOver = async (records: readonly LostRecord[]) => {
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

  /** One that is asked to, but can't, would never end one: nobody would ever see its records. */
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
        // What the source itself rejected.
        await letters?.flush()
        continue
      }
      counters.recordsIn += records.length
      countBatch(counters, records.length, clock.monotonicMs() - startMs)
      const outgoing = await toOutgoing(records, pipeline, policy, bounds)
      // Before the batch, whose offsets step over them.
      await letters?.flush()
      await topics.prepare(outgoing.records)
      await delivery.deliver(outgoing, records, end)
    }
  }

  /** A source that has nothing more is not a failure; its connector goes on until someone stops it. */
  async #rest(): Promise<void> {
    this.#parts.log.info({}, 'the source has come to its end')
    await new Gate(() => false, this.#ending).pass(this.#ending)
  }

  async #commitRegularly(delivery: Delivery): Promise<void> {
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
    { stepOver, listener }: Required<Pick<AtLeastOnceParts, 'stepOver' | 'listener'>>,
  ): Promise<Delivery> {
    const { counters, clock, log, spec } = this.#parts
    const { transactionalId, config } = spec
    const onFailure = () => this.#failed.abort()
    const parts = { toOffsets: this.#offsets(), counters, clock, log, signal: this.#ending, onFailure, listener }
    // A record waits for its broker as long as it takes; the source waits with it.
    if (transactionalId === undefined) {
      const producer = await clients.producer({ deliveryTimeoutMs: 2 ** 31 - 1 })
      const { commitTimeoutMs } = spec.worker
      const offsetsProducer = await clients.workersProducer()
      return new AtLeastOnce({ ...parts, commitTimeoutMs, producer, offsetsProducer, stepOver })
    }
    const { boundary } = parseTaskConfig(config).transactions
    const transactionTimeoutMs = Math.min(
      TRANSACTION_MS_MAX,
      Math.max(TRANSACTION_MS_MIN, 2 * this.#commitIntervalMs()),
    )
    return new ExactlyOnce({
      ...parts,
      boundary,
      producer: await clients.transactionalProducer({ transactionalId, transactionTimeoutMs }),
    })
  }

  async #deadLetters(clients: TaskClients, held: AsyncDisposableStack): Promise<DeadLetters | undefined> {
    const { spec } = this.#parts
    const { deadLetters: config } = parseTaskConfig(spec.config)
    if (config === undefined) return undefined
    const letters = await DeadLetters.open({ ...this.#parts, clients, config, task: spec, secrets: spec.secrets })
    held.adopt(letters, () => letters.close())
    return letters
  }

  #offsets(): OffsetWriter {
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
