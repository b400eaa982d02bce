import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '../../common/clock.ts'
import { type LogLimits, LogRateLimiter } from '../../common/logging/log-rate-limiter.ts'
import type { Logger } from '../../common/logging/logger.ts'
import { trimAsJava } from '../../common/trim-as-java.ts'
import { truncateText } from '../../common/truncate-text.ts'
import { LINE_CHARS_MAX } from './tasks/task-log-line.ts'

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
const OUTPUT_TAIL_CHARS = 8_000
/** Characters per second that are read from a pipe. A process that writes more is slowed down by the full pipe. */
const PIPE_CHARS_PER_SECOND = 1024 * 1024
const DROPPED_REPORT_INTERVAL_MS = 5_000

export type ProcessLogOptions = {
  readonly logger: Logger
  /** The fields that name the process, or the only task in it. */
  readonly fields: () => object
  /** What the process runs, in messages. */
  readonly subject: 'a task' | 'a plugin'
  /** Limits of each task. */
  readonly log: LogLimits
  readonly clock?: Clock
}

/**
 * Copies the log and the output of a process of plugin code to the worker's log, and limits the process as a whole, whatever it
 * sends.
 */
export class ProcessLog {
  readonly #logger: Logger
  readonly #fields: () => object
  readonly #subject: string
  readonly #log: LogRateLimiter
  readonly #output: LogRateLimiter
  #outputTail = ''
  readonly #clock: Clock
  #reportedMs: number

  constructor({ logger, fields, subject, log, clock = systemClock }: ProcessLogOptions) {
    this.#fields = fields
    this.#subject = subject
    // The process has already serialized `err`.
    this.#logger = logger.child({}, { serializers: { err: (serialized) => serialized } })
    this.#clock = clock
    this.#reportedMs = clock.monotonicMs()
    const limits = {
      linesPerSecond: TASKS_PER_PROCESS * log.linesPerSecond,
      bytesPerSecond: TASKS_PER_PROCESS * log.bytesPerSecond,
    }
    this.#log = new LogRateLimiter(limits, () => clock.monotonicMs())
    this.#output = new LogRateLimiter(log, () => clock.monotonicMs())
  }

  /** The end of the process's standard output and error, to explain its exit. */
  get outputTail(): string {
    return trimAsJava(this.#outputTail)
  }

  /** A line of the process's log, as JSON. Throws when it is not one. */
  write(line: string): void {
    if (!this.#log.admits('log', 0, line.length)) return
    const { level, time: _, msg, ...fields } = JSON.parse(line) as { level: number; time: string; msg: string }
    this.#logger[LEVELS[level] ?? 'info'](fields, String(msg))
  }

  warn(fields: object, message: string): void {
    this.#logger.warn({ ...this.#fields(), ...fields }, message)
  }

  /** Logs the lines of the process's standard output and error. */
  follow(pipes: { readonly stdout: Readable; readonly stderr: Readable }): void {
    for (const [stream, pipe] of Object.entries(pipes)) {
      let leftChars = PIPE_CHARS_PER_SECOND
      let rest = ''
      pipe.setEncoding('utf8')
      pipe.on('data', (text: string) => {
        this.#outputTail = (this.#outputTail + text).slice(-OUTPUT_TAIL_CHARS)
        const lines = (rest + text).split('\n')
        // An unterminated line is limited in length, too.
        rest = (lines.pop() ?? '').slice(0, LINE_CHARS_MAX)
        for (const line of lines) this.#writeOutput(stream, line)
        leftChars -= text.length
        if (leftChars > 0) return
        pipe.pause()
        setTimeout(() => {
          leftChars = PIPE_CHARS_PER_SECOND
          pipe.resume()
        }, 1_000).unref()
      })
      pipe.on('end', () => this.#writeOutput(stream, rest))
      pipe.on('error', () => undefined)
    }
  }

  #writeOutput(stream: string, line: string): void {
    const text = truncateText(line, LINE_CHARS_MAX / 2).trimEnd()
    if (text === '' || !this.#output.admits('output', 0, text.length)) return
    this.#logger.info({ ...this.#fields(), stream }, text)
  }

  /** Logs the number of dropped lines, at most every 5 s. To be called regularly. */
  reportDropped(): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#reportedMs < DROPPED_REPORT_INTERVAL_MS) return
    this.#reportedMs = nowMs
    for (const { lines, bytes } of [...this.#log.takeDropped(), ...this.#output.takeDropped()])
      this.warn(
        { lines, bytes },
        `log lines of ${this.#subject} were dropped: it writes more than worker.task.log.*.per.second allows`,
      )
  }
}
