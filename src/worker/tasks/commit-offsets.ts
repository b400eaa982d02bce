import type { ErrorDeduplicator } from '../../common/logging/error-deduplicator.ts'
import { withTimeout } from '../../common/timeout.ts'
import type { WorkerTaskContext } from './task-context.ts'
import { countCommitMs } from './task-counters.ts'

type Commit = Pick<WorkerTaskContext, 'counters' | 'clock' | 'log'> & {
  readonly startMs: number
  readonly timeoutMs: number
  /** The errors of the task's earlier commits: each is logged once. */
  readonly errors: ErrorDeduplicator
}

/** Waits for a write of offsets, and counts it. Resolves to whether it succeeded in time; the next commit retries it otherwise. */
export async function commitOffsets(write: Promise<unknown>, commit: Commit): Promise<boolean> {
  const { counters, clock, log, startMs, timeoutMs, errors } = commit
  const onTimeout = (): never => {
    throw new Error(`the log did not take them within ${timeoutMs} ms (offset.flush.timeout.ms)`)
  }
  try {
    await withTimeout(write, timeoutMs, onTimeout, clock)
    counters.commits += 1
    errors.clear()
    return true
  } catch (error) {
    counters.commitFailures += 1
    if (!errors.isRepeated(error)) log.warn({ err: error }, 'offsets could not be committed; each next commit retries')
    return false
  } finally {
    countCommitMs(counters, clock.monotonicMs() - startMs)
  }
}
