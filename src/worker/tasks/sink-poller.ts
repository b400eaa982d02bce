import type { Consumer, PartitionRecords } from '../../broker/broker.ts'
import { BrokerError, UnreadableBatchError } from '../../broker/broker-error.ts'
import { UserError } from '../../common/errors.ts'
import type { WorkerTaskContext } from './task-context.ts'

/** Wait before the next poll after a topic was missing, in ms. */
const MISSING_TOPIC_WAIT_MS = 250
const WARNING_INTERVAL_MS = 30_000

/** Polls the consumer of a sink. */
export class SinkPoller {
  readonly #context: Pick<WorkerTaskContext, 'spec' | 'clock' | 'log' | 'signal'>
  #warnedMs = Number.NEGATIVE_INFINITY

  constructor(context: Pick<WorkerTaskContext, 'spec' | 'clock' | 'log' | 'signal'>) {
    this.#context = context
  }

  /** Rejects with a `UserError` for an unreadable batch, because skipping data is an operator's decision. */
  async poll(consumer: Consumer, waitMs: number): Promise<readonly PartitionRecords[]> {
    try {
      return await consumer.poll(waitMs)
    } catch (error) {
      if (error instanceof UnreadableBatchError) throw this.#withRemedy(error)
      if (!(error instanceof BrokerError) || error.code !== 'topic_not_found') throw error
      await this.#waitAfter(error)
      return []
    }
  }

  #withRemedy(error: UnreadableBatchError): UserError {
    const { connector } = this.#context.spec
    const remedy =
      `Nothing behind it is read. Restore it from a replica or a backup and restart the task; or give it up: stop the ` +
      `connector, move its offset past the batch with PATCH /connectors/${connector}/offsets, and resume it`
    return new UserError(error.code, `${error.message}. ${remedy}`, { cause: error })
  }

  /**
   * As in Kafka Connect, a task continues with its other topics when one of them is deleted. The consumer looks for changed topics
   * regularly, and then rejoins its group without it.
   */
  async #waitAfter(error: BrokerError): Promise<void> {
    const { clock, log, signal } = this.#context
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#warnedMs >= WARNING_INTERVAL_MS) {
      this.#warnedMs = nowMs
      log.warn({ err: error }, 'a topic of the sink does not exist any more; the task continues with the others')
    }
    await clock.sleep(MISSING_TOPIC_WAIT_MS, signal).catch(() => undefined)
  }
}
