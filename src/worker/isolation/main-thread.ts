import type { Broker } from '../../broker/broker.ts'
import type { Clock } from '../../config/clock.ts'
import type { Logger } from '../../config/logger.ts'
import type { Catalog } from '../../plugins/catalog.ts'
import { SinkTask } from '../tasks/sink-task.ts'
import { SourceTask } from '../tasks/source-task.ts'
import { noCounters } from '../tasks/task-counters.ts'
import type { RunningTask, TaskHost, TaskMessage, TaskSpec } from '../tasks/task-spec.ts'
import { traceOf } from '../tasks/trace.ts'

export type HostParts = {
  readonly broker: Broker
  readonly plugins: Catalog
  readonly logger: Logger
  readonly clock: Clock
}

/** Runs tasks in this very thread. */
export function createMainThreadHost({ broker, plugins, logger, clock }: HostParts): TaskHost {
  return { start }

  function start(spec: TaskSpec, tell: (message: TaskMessage) => void): RunningTask {
    const stopping = new AbortController()
    const counters = noCounters()
    const log = logger.child({ connector: spec.connector, task: spec.task })
    // What a task says after it was told to stop is of no use: it may be running elsewhere by then.
    const report = (message: TaskMessage) => {
      if (!stopping.signal.aborted) tell(message)
    }
    const parts = { spec, broker, plugins, log, clock, counters, report, signal: stopping.signal }
    const { ended, setPaused } = run()
    return {
      pause: () => setPaused(true),
      resume: () => setPaused(false),
      counters: () => ({ ...counters }),
      stop: async () => {
        stopping.abort()
        await ended
      },
    }

    function run(): { ended: Promise<void>; setPaused: (paused: boolean) => void } {
      try {
        const task = spec.kind === 'source' ? new SourceTask(parts) : new SinkTask(parts)
        return { ended: task.run().catch(failed), setPaused: (paused) => task.setPaused(paused) }
      } catch (error) {
        return { ended: Promise.resolve().then(() => failed(error)), setPaused: () => undefined }
      }
    }

    function failed(error: unknown): void {
      if (stopping.signal.aborted) log.warn({ err: error }, 'the task did not end cleanly')
      else log.error({ err: error }, 'the task failed')
      report({ type: 'failed', trace: traceOf(error) })
    }
  }
}
