import { BrokerError } from '../../broker/broker-error.ts'
import type { Clock } from '../../common/clock.ts'
import { UserError } from '../../common/errors.ts'
import type { Logger } from '../../common/logging/logger.ts'

export type ForeignMembersOptions = {
  readonly groupId: string
  /** The session timeout of this worker. Those of a cluster have the same settings. */
  readonly sessionTimeoutMs: number
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
}

const RETRY_MS = 1_000
/** The coordinator checks sessions at intervals. */
const MARGIN_MS = 2_000

/**
 * Joins a group that may still contain workers of another kind, such as Kafka Connect's. Workers that were killed count as
 * members until their session ends, so joining is retried for that time. Then rejects with a `UserError` (`group_taken`).
 */
export async function joinAfterForeignMembers<Member>(
  join: () => Promise<Member>,
  { groupId, sessionTimeoutMs, clock, logger, signal }: ForeignMembersOptions,
): Promise<Member> {
  const waitMsMax = sessionTimeoutMs + MARGIN_MS
  const deadlineMs = clock.monotonicMs() + waitMsMax
  for (let attempt = 1; ; attempt++) {
    try {
      return await join()
    } catch (error) {
      if (!(error instanceof BrokerError && error.code === 'inconsistent_group')) throw error
      if (clock.monotonicMs() >= deadlineMs) throw groupTaken(groupId, waitMsMax, error)
      if (attempt === 1)
        logger.warn({ groupId, waitMsMax }, 'the group has workers of another kind; waiting for their end')
      await clock.sleep(RETRY_MS, signal)
    }
  }
}

function groupTaken(groupId: string, waitedMs: number, cause: Error): UserError {
  return new UserError(
    'group_taken',
    `the group '${groupId}' has live workers of another kind, such as Kafka Connect's, and still had them after ` +
      `${waitedMs / 1000} s: stop all of them first, or choose another group.id. If a worker with a longer ` +
      'session.timeout.ms was killed, wait until that time is over.',
    { cause },
  )
}
