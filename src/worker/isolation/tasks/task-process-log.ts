import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '../../../common/clock.ts'
import { type LogLimits, LogRateLimiter } from '../../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../../common/logging/logger.ts'
import { truncateText } from '../../../common/truncate-text.ts'
import { LINE_CHARS_MAX } from './task-log-line.ts'

const LEVELS: Readonly<Record<number, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}
/** The limits of one task are multiplied by this number for a whole process. */
const TASKS_PER_PROCESS = 10
const OUTPUT_TAIL_CHARS = 2_000
/** Bytes per second that are read from a pipe. A process that writes more is slowed down by the full pipe. */
const PIPE_BYTES_PER_SECOND = 64 * 1024
const DROPPED_REPORT_INTERVAL_MS = 5_000

export type ProcessLogOptions = {
  /** The name of the process. */
  readonly name: string
  readonly logger: Logger
  /** Limits of each task. */
  readonly log: LogLimits
  readonly clock?: Clock
}

/**
 * Copies the log of a task process to the worker's log. The thread limits the log of each task; this class limits the
 * process as a whole, whatever it sends.
 */
export class ProcessLog {
  readonly #logger: Logger
  readonly #name: string
  readonly #limiter: LogRateLimiter
  #outputTail = ''
  readonly #clock: Clock
  #reportedMs: number

  constructor({ name, logger, log, clock = systemClock }: ProcessLogOptions) {
    this.#name = name
    // The thread has already serialized `err`.
    this.#logger = logger.child({}, { serializers: { err: (serialized) => serialized } })
    this.#clock = clock
    this.#reportedMs = clock.monotonicMs()
    const limits = {
      linesPerSecond: TASKS_PER_PROCESS * log.linesPerSecond,
      bytesPerSecond: TASKS_PER_PROCESS * log.bytesPerSecond,
    }
    this.#limiter = new LogRateLimiter(limits, () => clock.monotonicMs())
  }

  /** The end of the process's standard output and error, to explain its exit. */
  get outputTail(): string {
    const text = this.#outputTail.trim()
    return text === '' ? '' : `; its last output was:\n${text}`
  }

  /** A line of the process's log, as JSON. */
  write(line: string): void {
    if (!this.#limiter.admits(this.#name, 0, line.length)) return
    const { level, time: _, msg, ...fields } = JSON.parse(line) as { level: number; time: string; msg: string }
    this.#logger[LEVELS[level] ?? 'info'](fields, msg)
  }

  /** Reads the process's standard output and error, to which crashes and native code write. */
  follow(...pipes: readonly Readable[]): void {
    for (const pipe of pipes) {
      let leftBytes = PIPE_BYTES_PER_SECOND
      pipe.setEncoding('utf8')
      pipe.on('data', (text: string) => {
        this.#outputTail = (this.#outputTail + text).slice(-OUTPUT_TAIL_CHARS)
        if (this.#limiter.admits(`${this.#name} output`, 0, text.length))
          this.#logger.warn(
            { thread: this.#name, output: truncateText(text, LINE_CHARS_MAX) },
            'a task process wrote to its standard output or error',
          )
        leftBytes -= text.length
        if (leftBytes > 0) return
        pipe.pause()
        setTimeout(() => {
          leftBytes = PIPE_BYTES_PER_SECOND
          pipe.resume()
        }, 1_000).unref()
      })
      pipe.on('error', () => undefined)
    }
  }

  /** Logs the number of dropped lines, at most every 5 s. To be called regularly. */
  reportDropped(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#reportedMs < DROPPED_REPORT_INTERVAL_MS) return
    this.#reportedMs = nowMs
    for (const { lines, bytes } of this.#limiter.takeDropped())
      this.#logger.warn({ thread: this.#name, lines, bytes }, 'log lines of a task process were dropped')
  }
}
