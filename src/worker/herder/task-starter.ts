import type { ProducerIdentity, TopicPartition } from '../../broker/broker.ts'
import { BrokerError, isRejection, OpenTransactionError } from '../../broker/broker-error.ts'
import type { TaskId } from '../../clients/worker-client.ts'
import type { Clock } from '../../common/clock.ts'
import { messageOf, UserError } from '../../common/errors.ts'
import { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { retry } from '../../common/retry.ts'
import type { ConfigResolver } from '../configuration/config-resolver.ts'
import type { LiteralSecrets } from '../configuration/literal-secrets.ts'
import { WorkerError } from '../model/worker-error.ts'
import type { ConfigStore } from '../stores/config-store.ts'
import type { OffsetStore } from '../stores/offset-store.ts'
import { traceOf } from '../tasks/error-trace.ts'
import type { TaskDefaults, TaskHost, TaskMessage } from '../tasks/task-spec.ts'
import { transactionalIdOf } from './producer-fencing.ts'
import type { StartedTask } from './started-task.ts'
import { RETRY_UNTIL_DONE } from './task-config-updater.ts'

export type TaskStarterOptions = {
  readonly clock: Clock
  readonly logger: Logger
  readonly host: TaskHost
  readonly resolver: ConfigResolver
  readonly literals: LiteralSecrets
  readonly offsets: OffsetStore
  readonly configs: Pick<ConfigStore, 'readToEnd'>
  readonly defaults: TaskDefaults
  /**
   * Fences every older producer of this source task, and ends transactions of theirs that are still open in these
   * partitions of an offsets topic. Resolves with the identity that the transactional id has from then on. Undefined: sources deliver at
   * least once.
   */
  readonly fence: ((id: TaskId, openPartitions: readonly TopicPartition[]) => Promise<ProducerIdentity>) | undefined
}

/** What the starter needs of its user. */
type TaskStarterCallbacks = {
  /** Whether the task has not been stopped. */
  readonly isWanted: (task: StartedTask) => boolean
  /** Whether its configuration is the current one, as far as the config topic has been read. */
  readonly isConfigured: (task: StartedTask) => boolean
  readonly report: (task: StartedTask, message: TaskMessage) => void
  /** The span that changed the configuration of a connector. */
  readonly traceparentOf: (connector: string) => string | undefined
}

/** A task that has not started after this time, in ms, has a status that says what it waits for. */
const SLOW_START_MS = 10_000
/** Timeout of reading the config topic, and of reading the source offsets, before the start of an exactly-once task. It is read again then. */
const READ_MS_MAX = 10_000
/** How long such a task waits for open transactions. Kafka aborts them after `transaction.timeout.ms`, 60 s by default. */
const OPEN_TRANSACTION_MS_MAX = 90_000

/** Starts tasks with the offsets and the values of placeholders that they need. Whatever keeps a task from starting is its status. */
export class TaskStarter {
  readonly #options: TaskStarterOptions & TaskStarterCallbacks

  constructor(options: TaskStarterOptions & TaskStarterCallbacks) {
    this.#options = options
  }

  /** Reports a task as waiting that does not start, without failing it. */
  async reportSlowStart(task: StartedTask): Promise<void> {
    const { clock, logger, isWanted, report } = this.#options
    await clock.sleep(SLOW_START_MS, task.stopping.signal).catch(() => undefined)
    if (!isWanted(task) || task.hasStarted || task.failed) return
    const reason = `the task has not started for ${SLOW_START_MS / 1_000} s: it waits for ${task.waitsFor}`
    logger.warn({ ...task.id, reason }, 'a task is slow to start')
    report(task, { type: 'waiting', reason })
  }

  /**
   * Reads offsets after fencing, when no older task can change them, and does not start a task whose configuration is found to be outdated:
   * the tasks of the current one, which other workers may run, have other transactional ids. Retries until it succeeds or the task is no longer
   * wanted. Meanwhile the task is FAILED if the error is not transient, or if it waits too long for the end of an open
   * transaction in an offsets topic, and otherwise UNASSIGNED with the error. A task that lacks a right, or whose configuration is
   * invalid, stays FAILED until it is restarted, as in Kafka Connect.
   */
  async startFenced(task: StartedTask): Promise<void> {
    const { fence, clock, logger, configs, offsets, isWanted, isConfigured, report } = this.#options
    const startMs = clock.monotonicMs()
    const seen = new ErrorDeduplicator()
    let openPartitions: readonly TopicPartition[] = []
    const onRetry = (error: unknown) => {
      if (!isWanted(task)) return
      if (!seen.isRepeated(error))
        logger.warn({ err: error, ...task.id }, `a task waits for ${task.waitsFor}, which is retried until it succeeds`)
      if (task.failed) return
      if (error instanceof OpenTransactionError) openPartitions = error.partitions
      const isFailure =
        error instanceof OpenTransactionError
          ? clock.monotonicMs() - startMs > OPEN_TRANSACTION_MS_MAX
          : error instanceof BrokerError && !error.retriable
      if (isFailure) report(task, { type: 'failed', trace: traceOf(error) })
      else report(task, { type: 'waiting', reason: `the task cannot start yet, which is retried: ${messageOf(error)}` })
    }
    const attempt = async () => {
      if (!isWanted(task)) return
      task.waitsFor = 'the end of its predecessors, whose producers are fenced'
      const fencedAs = await fence?.(task.id, openPartitions)
      task.waitsFor = 'the end of the config topic'
      await configs.readToEnd(READ_MS_MAX)
      // Replaced by the reconciliation of what was read. A configuration that is stored from now on fences the producer of this task.
      if (!isConfigured(task)) return
      task.waitsFor = 'the source offsets'
      await offsets.refresh(READ_MS_MAX)
      await this.start(task, 'source', fencedAs)
    }
    try {
      await retry(attempt, { ...RETRY_UNTIL_DONE, retriable: (error) => !isLasting(error), clock, onRetry })
    } catch (error) {
      if (!isWanted(task)) return
      logger.error({ err: error, ...task.id }, 'a task could not be started')
      report(task, { type: 'failed', trace: traceOf(error) })
    }
  }

  /** Rejects with `OpenTransactionError` if a fenced task cannot read its offsets. Any other error fails the task. */
  async start(task: StartedTask, kind: 'source' | 'sink', fencedAs?: ProducerIdentity): Promise<void> {
    const { resolver, literals, defaults, offsets, host, isWanted, report, traceparentOf } = this.#options
    const { id, config } = task
    try {
      task.waitsFor = 'the values of its placeholders'
      const resolved = await resolver.resolve(config, id, task.stopping.signal)
      task.waitsFor = 'the source offsets'
      const sourceOffsets = kind === 'source' ? await offsets.of(id.connector, resolved.config) : []
      if (!isWanted(task)) return
      task.failed = false
      task.waitsFor = 'its process, which is started or busy'
      const traceparent = traceparentOf(id.connector)
      const spec = {
        ...id,
        kind,
        config: resolved.config,
        secrets: [...resolved.placeholderValues.values(), ...literals.secretsIn(resolved.config)],
        worker: defaults,
        paused: task.target === 'PAUSED',
        offsets: sourceOffsets,
        ...(fencedAs && { transactionalId: transactionalIdOf(defaults.workerGroup, id), fencedAs }),
        ...(traceparent !== undefined && { traceparent }),
      }
      task.running = host.start(spec, (message) => report(task, message))
    } catch (error) {
      if (fencedAs && error instanceof OpenTransactionError) throw error
      if (isWanted(task)) report(task, { type: 'failed', trace: traceOf(error) })
    }
  }
}

/** Whether the task cannot be started until somebody changes rights, settings or its configuration. */
function isLasting(error: unknown): boolean {
  if (error instanceof WorkerError) return error.code === 'fencing_rejected'
  return isRejection(error) || error instanceof UserError
}
