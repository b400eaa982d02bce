import type { TaskId } from '../../../clients/worker-client.ts'
import { type LogLimits, LogRateLimiter } from '../../../common/logging/log-rate-limiter.ts'
import { parseTaskKey } from '../../model/task-key.ts'
import { cutLine, LINE_CHARS_MAX, levelOf } from './task-log-line.ts'

const REPORT_INTERVAL_MS = 5_000

export type TaskLogOptions = {
  readonly limits: LogLimits
  readonly monotonicMs: () => number
  /** The key of the task on whose behalf the process runs. */
  readonly task: () => string | undefined
  /** Sends a line to the worker. */
  readonly send: (line: string) => void
}

/** The log of the tasks in a process, rate-limited by task and level before it leaves the process. */
export class TaskLogOutput {
  readonly #options: TaskLogOptions
  readonly #limiter: LogRateLimiter

  constructor(options: TaskLogOptions) {
    this.#options = options
    this.#limiter = new LogRateLimiter(options.limits, options.monotonicMs)
  }

  write(line: string): void {
    const { task, send } = this.#options
    const key = task()
    if (!this.#limiter.admits(key ?? '', levelOf(line), Math.min(line.length, LINE_CHARS_MAX))) return
    send(cutLine(line, fieldsOf(key)))
  }

  /** Logs one line per task and level with the number of lines dropped since the last call. */
  reportDropped(): void {
    const { limits, send } = this.#options
    for (const { source, level, lines, bytes } of this.#limiter.takeDropped()) {
      const { linesPerSecond, bytesPerSecond } = limits
      const msg = 'log lines of a task were dropped: it logs more than worker.task.log.*.per.second allows'
      send(JSON.stringify({ level, ...fieldsOf(source), lines, bytes, linesPerSecond, bytesPerSecond, msg }))
    }
  }

  /** Calls `reportDropped` every 5 s. */
  start(): void {
    setInterval(() => this.reportDropped(), REPORT_INTERVAL_MS).unref()
  }
}

/** The fields that name a task in its log lines. */
function fieldsOf(key: string | undefined): Partial<TaskId> {
  return key === undefined || key === '' ? {} : parseTaskKey(key)
}
