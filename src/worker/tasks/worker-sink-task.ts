import type { Consumer, PartitionRecords, TopicPartition } from '../../broker/broker.ts'
import { BrokerError, UnreadableBatchError } from '../../broker/broker-error.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import { traced } from '../../common/tracing.ts'
import { untilAborted } from '../../common/unless-aborted.ts'
import { listedName } from '../../plugins/plugin-catalog.ts'
import {
  type CommittedPosition,
  parseConfig,
  RetriableError,
  type SinkGroupMember,
  type SinkTask as SinkPlugin,
  type SinkPosition,
  type SinkRecord,
} from '../../sdk/index.ts'
import { missingConnector } from '../configuration/connector-plugin.ts'
import { parseTaskConfig, type TaskConfig } from '../configuration/task-config.ts'
import { batchSpan } from './batch-span.ts'
import { commitOffsets } from './commit-offsets.ts'
import { ConnectorReports } from './connector-reports.ts'
import { type DeadLetterQueue, openDeadLetters } from './dead-letter-queue.ts'
import { ErrorPolicy } from './error-policy.ts'
import { LagReport } from './lag-report.ts'
import { type FailedSinkRecord, processSinkRecords, SinkRecordOrigin } from './process-sink-records.ts'
import { RecordPipeline } from './record-pipeline.ts'
import { RetryStatus } from './retry-status.ts'
import { SinkDelivery } from './sink-delivery.ts'
import { partitionKey, SinkOffsets } from './sink-offsets.ts'
import { SinkPauses } from './sink-pauses.ts'
import { TaskClients } from './task-clients.ts'
import type { WorkerTaskContext } from './task-context.ts'
import { TaskTopics } from './task-topics.ts'

/** Longest wait of one poll, in ms, while no batch is being retried. A poll also ends when the next commit is due. */
const POLL_MS_MAX = 1_000
/** Longest wait of one poll, in ms, while a batch waits for its retry: well below the group's max.poll.interval.ms. */
const RETRY_POLL_MS_MAX = 30_000

/** The collaborators of a running task. */
type RunningSink = {
  readonly consumer: Consumer
  readonly plugin: SinkPlugin
  readonly delivery: SinkDelivery
  readonly pipeline: RecordPipeline
  readonly policy: ErrorPolicy
  readonly topics: TaskTopics
}

/** Runs one sink task: reads, converts, puts and commits until the task is stopped or fails. */
export class WorkerSinkTask {
  readonly #context: WorkerTaskContext
  readonly #config: TaskConfig
  readonly #offsets = new SinkOffsets()
  readonly #status: RetryStatus
  readonly #lagReport: LagReport
  #deadLetters: DeadLetterQueue | undefined
  #consumer: Consumer | undefined
  #plugin: SinkPlugin | undefined
  #delivery: SinkDelivery | undefined
  readonly #pauses = new SinkPauses()
  /** Positions that the sink asked for, until the next poll. */
  #seeks: SinkPosition[] = []
  #commitAtMs = 0
  readonly #commitErrors = new ErrorDeduplicator()
  /** The error of the last flush; undefined if it succeeded. */
  #flushError: unknown
  /** Set when the task has failed, so that closing it does not commit records that the sink did not accept. */
  #hasFailed = false

  constructor(context: WorkerTaskContext) {
    this.#context = context
    this.#pauses.set('paused', context.spec.paused)
    this.#status = new RetryStatus(context.report, () => this.#pauses.has('paused'))
    this.#lagReport = new LagReport(context)
    this.#config = parseTaskConfig(context.spec.config)
  }

  setPaused(paused: boolean): void {
    if (this.#pauses.has('paused') === paused) return
    this.#pauses.set('paused', paused)
    this.#status.reportState()
    this.#consumer?.wake()
  }

  /** Resolves when the task is stopped; rejects when it fails. */
  async run(): Promise<void> {
    const { spec, broker, connect, log, clock, counters, report, signal } = this.#context
    await using resources = new AsyncDisposableStack()
    const pipeline = await RecordPipeline.open(this.#context)
    resources.adopt(pipeline, (open) => open.close())
    const clients = new TaskClients({ spec, broker, connect, log, clock, signal, status: this.#status })
    resources.adopt(clients, () => clients.close())
    const topics = new TaskTopics({ clients, clock, log, spec, report })
    if (typeof this.#config.topics !== 'function')
      await Promise.all(this.#config.topics.map((name) => topics.create(name)))
    const policy = new ErrorPolicy({ config: this.#config.errors, counters, log, clock, signal })
    this.#deadLetters = await openDeadLetters(this.#context, clients, resources, signal)
    const reports = new ConnectorReports(clients)
    resources.adopt(reports, () => reports.close())
    const plugin = await this.#startSink(policy, reports)
    this.#plugin = plugin
    resources.defer(() => plugin.stop?.())
    // Reported before joining, because a join can wait for the other group members for a whole rebalance.
    this.#status.reportState()
    const joining = clients.consumer({
      topics: this.#config.topics,
      signal,
      rebalance: {
        onAssigned: (partitions) => this.#assigned(partitions),
        onRevoked: (partitions) => this.#revoked(partitions),
        onLost: (partitions) => this.#lost(partitions),
      },
    })
    const consumer = await joining.catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    if (!consumer) return
    this.#consumer = consumer
    this.#pauses.connect(consumer)
    resources.adopt(consumer, (open) => open.close())
    signal.addEventListener('abort', () => consumer.wake(), { once: true })
    const delivery = this.#createDelivery(plugin, consumer, policy)
    this.#delivery = delivery
    try {
      await this.#putBatches({ consumer, plugin, delivery, pipeline, policy, topics })
      await delivery.settled()
    } catch (error) {
      this.#hasFailed = true
      throw error
    } finally {
      await delivery.idle()
    }
  }

  #createDelivery(plugin: SinkPlugin, consumer: Consumer, policy: ErrorPolicy): SinkDelivery {
    const { counters, clock } = this.#context
    return new SinkDelivery({
      plugin,
      policy,
      offsets: this.#offsets,
      // A successful put does not clear the error of a failed flush.
      status: { setError: (error) => this.#status.setError(error ?? this.#flushError) },
      counters,
      clock,
      onBlocked: (isBlocked) => {
        this.#pauses.set('retry', isBlocked)
        // The poll that waits for records does not know when the retry is due.
        if (isBlocked) consumer.wake()
      },
      onFailure: () => consumer.wake(),
    })
  }

  async #putBatches(running: RunningSink): Promise<void> {
    const { clock, signal, spec } = this.#context
    this.#commitAtMs = clock.monotonicMs() + spec.worker.commitIntervalMs
    while (!signal.aborted) {
      this.#applySeeks(running.consumer)
      await this.#process(running, await this.#poll(running))
      this.#lagReport.send(this.#offsets)
      if (clock.monotonicMs() >= this.#commitAtMs) await this.#commit()
    }
  }

  /**
   * Polls the consumer. Throws a `UserError` for an unreadable batch, because skipping data is an operator's decision.
   */
  async #poll({ consumer, delivery }: RunningSink): Promise<readonly PartitionRecords[]> {
    try {
      return await consumer.poll(this.#waitMs(delivery))
    } catch (error) {
      if (!(error instanceof UnreadableBatchError)) throw error
      const { connector } = this.#context.spec
      const remedy =
        `Nothing behind it is read. Restore it from a replica or a backup and restart the task; or give it up: stop the ` +
        `connector, move its offset past the batch with PATCH /connectors/${connector}/offsets, and resume it`
      throw new UserError(error.code, `${error.message}. ${remedy}`, { cause: error })
    }
  }

  async #process(running: RunningSink, polled: readonly PartitionRecords[]): Promise<void> {
    if (this.#context.signal.aborted) return
    const { delivery, plugin } = running
    delivery.throwFailure()
    // While a batch waits for its retry, all partitions are paused and polling only keeps the group membership.
    if (!this.#pauses.has('paused')) await delivery.retry()
    const putsNothing = plugin.putsEmptyBatches === true && !delivery.isBlocked
    if (polled.length === 0 && !putsNothing) return
    const records = polled.reduce((sum, chunk) => sum + chunk.records.length, 0)
    const { name, options } = batchSpan(this.#context.spec, polled, records)
    await traced(name, options, () => this.#deliver(running, polled))
  }

  #waitMs({ isBlocked, dueMs }: SinkDelivery): number {
    const nowMs = this.#context.clock.monotonicMs()
    if (isBlocked && !this.#pauses.has('paused')) return Math.max(0, Math.min(RETRY_POLL_MS_MAX, dueMs - nowMs))
    return Math.max(0, Math.min(POLL_MS_MAX, this.#commitAtMs - nowMs))
  }

  async #deliver(running: RunningSink, polled: readonly PartitionRecords[]): Promise<void> {
    const { pipeline, policy } = running
    const { counters, signal } = this.#context
    const onFailedRecord = (failed: FailedSinkRecord) => this.#skip(policy, failed)
    const records: SinkRecord[] = []
    for (const chunk of polled) {
      counters.recordsIn += chunk.records.length
      const before = records.length
      // As in a source task: a schema registry that does not respond must not delay the end of the task.
      const processing = processSinkRecords(chunk, { pipeline, policy, onFailedRecord }, records)
      if (!(await untilAborted(processing, signal))) return
      if (records.length > before) running.topics.recordActiveTopic(chunk.topic)
      await this.#deadLetters?.waitForRoom()
    }
    await running.delivery.deliver({ polled, records })
  }

  async #commit(isClosing = false): Promise<void> {
    await this.#delivery?.settled()
    const { clock, counters, spec, log } = this.#context
    const startMs = clock.monotonicMs()
    this.#commitAtMs = startMs + spec.worker.commitIntervalMs
    const pending = this.#offsets.pending()
    if (pending.length === 0 || this.#hasFailed) return
    const safe = await this.#flush(pending, isClosing)
    if (safe === undefined) return
    const { commitTimeoutMs: timeoutMs } = spec.worker
    const written = Promise.try(() => this.#consumer?.commit(safe))
    const errors = this.#commitErrors
    if (await commitOffsets(written, { counters, clock, log, timeoutMs, startMs, errors }))
      this.#offsets.committed(safe)
  }

  /** For a sink that must know that an offset is committed before it continues. */
  async #commitNow(offsets: readonly CommittedPosition[]): Promise<void> {
    const consumer = this.#consumer
    if (consumer === undefined) throw new Error('the task has not joined its consumer group')
    await consumer.commit(offsets).catch((error: unknown) => {
      if (!isMembershipLost(error)) throw error
      throw new RetriableError(`the partitions belong to another task: ${messageOf(error)}`, { cause: error })
    })
    this.#offsets.committed(offsets)
  }

  /**
   * As in Kafka Connect, offsets that the sink returns are ignored if they would skip records or are of partitions of another task.
   * Resolves to undefined if the sink fails: the task reads again what it has not committed, as in Kafka Connect.
   */
  async #flush(pending: readonly SinkPosition[], isClosing: boolean): Promise<readonly SinkPosition[] | undefined> {
    await this.#deadLetters?.flush()
    let safe: readonly SinkPosition[]
    try {
      safe = (await this.#plugin?.flush?.(pending)) ?? pending
    } catch (error) {
      this.#context.counters.commitFailures += 1
      this.#context.log.error(
        { err: error, offsets: pending },
        'the sink did not flush: its records since the last commit are read again',
      )
      if (!isClosing) this.#rewind(error)
      return undefined
    }
    this.#setFlushError(undefined)
    const invalid = safe.filter((position) => !this.#offsets.isDelivered(position))
    if (invalid.length === 0) return safe
    this.#context.log.warn(
      { offsets: invalid },
      'offsets that the sink returned are not committed: their partitions are not assigned, or records before them were not put',
    )
    return safe.filter((position) => !invalid.includes(position))
  }

  /** Reads again from the last committed offsets, also a batch that waits for its retry. */
  #rewind(error: unknown): void {
    const positions = this.#offsets.rewound()
    this.#setFlushError(error)
    this.#delivery?.drop(positions)
    this.#consumer?.seek(positions)
  }

  #setFlushError(error: unknown): void {
    this.#flushError = error
    // While a batch waits for its retry, the status shows the error of that batch.
    if (error !== undefined || !this.#delivery?.isBlocked) this.#status.setError(error)
  }

  async #assigned(partitions: readonly TopicPartition[]): Promise<void> {
    this.#context.log.info({ partitions: partitions.map(partitionKey) }, 'partitions were assigned')
    await this.#delivery?.idle()
    const positions = partitions.length > 0 ? await this.#plugin?.open?.(partitions) : undefined
    if (positions !== undefined && positions.length > 0) this.#consumer?.seek(positions)
    this.#pauses.assigned(partitions)
    this.#context.counters.partitions += partitions.length
  }

  async #revoked(partitions: readonly TopicPartition[]): Promise<void> {
    if (!this.#hasFailed) await this.#commit(true)
    await this.#lost(partitions)
  }

  async #lost(partitions: readonly TopicPartition[]): Promise<void> {
    await this.#delivery?.idle()
    this.#offsets.forget(partitions)
    this.#context.counters.partitions -= partitions.length
    this.#context.counters.recordsLag = this.#offsets.lagMax()
    this.#delivery?.drop(partitions)
    this.#setFlushError(undefined)
    await this.#plugin?.close?.(partitions)
  }

  #skip(policy: ErrorPolicy, { origin, ...failure }: FailedSinkRecord): void {
    const { topic, partition, offset } = origin
    const stored = SinkRecordOrigin.storedOf(origin)
    policy.tolerate({
      ...failure,
      position: { topic, partition, offset },
      content: () => ({ timestampMs: stored?.timestampMs }),
    })
    if (!stored) return
    const { key, value, headers, timestampMs } = stored
    this.#deadLetters?.add({
      ...failure,
      record: { key, value, headers, timestampMs },
      position: [
        ['topic', topic],
        ['partition', String(partition)],
        ['offset', String(offset)],
      ],
    })
  }

  /** Applied between two polls, because the offsets of the current batch are recorded after `put`. */
  #applySeeks(consumer: Consumer): void {
    if (this.#seeks.length === 0) return
    const assigned = new Set(consumer.assignment().map(partitionKey))
    const positions = this.#seeks.splice(0).filter((position) => assigned.has(partitionKey(position)))
    consumer.seek(positions)
    this.#offsets.sought(positions)
  }

  async #startSink(policy: ErrorPolicy, reports: ConnectorReports): Promise<SinkPlugin> {
    const { spec, plugins, log, signal, access } = this.#context
    const className = spec.config['connector.class'] ?? ''
    const sink = plugins.find('sink', className, spec.config['connector.plugin.version'])
    if (!sink) throw missingConnector(plugins, spec.config)
    return sink.start({
      connector: spec.connector,
      task: spec.task,
      config: parseConfig(sink.config, spec.config),
      raw: spec.config,
      files: access.files,
      network: access.network,
      signal,
      log,
      reject: async ({ origin }, error) => {
        this.#skip(policy, { origin, stage: 'TASK_PUT', className: listedName(sink), error })
        await this.#deadLetters?.flush()
      },
      report: (topic, records) => reports.write(topic, records),
      seek: (positions) => this.#seeks.push(...positions),
      setPausedPartitions: (partitions) => this.#pauses.setPausedBySink(partitions),
      requestCommit: () => {
        this.#commitAtMs = 0
      },
      committedOffsets: async (partitions) => (await this.#consumer?.committed(partitions)) ?? [],
      commitOffsets: (offsets) => this.#commitNow(offsets),
      groupMember: () => groupMemberOf(this.#consumer),
    })
  }
}

/** The next poll joins the group again, and drops what was read of the partitions. */
function isMembershipLost(error: unknown): boolean {
  const codes = ['illegal_generation', 'unknown_member', 'rebalance_in_progress']
  return error instanceof BrokerError && codes.includes(error.code)
}

function groupMemberOf(consumer: Consumer | undefined): SinkGroupMember {
  if (consumer === undefined) throw new Error('the task has not joined its consumer group')
  return { groupId: consumer.groupId, ...consumer.member() }
}
