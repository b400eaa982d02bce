import type { Readable } from 'node:stream'
import { systemClock } from '../../../config/clock.ts'
import { type LogLimits, LogRateLimiter } from '../../../config/log-rate-limiter.ts'
import type { Logger } from '../../../config/logger.ts'
import { truncateText } from '../../../config/truncate-text.ts'
import { LINE_CHARS_MAX } from './log-line.ts'

const LEVELS: Readonly<Record<number, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}
/** The limits of one task are multiplied by this number for a whole process. */
const TASKS = 10
const LAST_WORDS_CHARS = 2_000
/** Bytes per second that are read from a pipe. A process that writes more is slowed down by the full pipe. */
const PIPE_BYTES_PER_SECOND = 64 * 1024
const DROPPED_REPORT_MS = 5_000

/**
 * Copies the log of a task process to the worker's log. The thread limits the log of each task; this class limits the
 * process as a whole, whatever it sends.
 */
export class ProcessLog {
  readonly #logger: Logger
  readonly #name: string
  readonly #limiter: LogRateLimiter
  #lastWords = ''
  #reportedMs = 0

  constructor({ name, logger, log }: { readonly name: string; readonly logger: Logger; readonly log: LogLimits }) {
    this.#name = name
    this.#logger = logger
    const limits = { linesPerSecond: TASKS * log.linesPerSecond, bytesPerSecond: TASKS * log.bytesPerSecond }
    this.#limiter = new LogRateLimiter(limits, systemClock.monotonicMs)
  }

  /** The end of the process's standard output and error, to explain its exit. */
  get outputTail(): string {
    const text = this.#lastWords.trim()
    return text === '' ? '' : `; its last words were:\n${text}`
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
        this.#lastWords = (this.#lastWords + text).slice(-LAST_WORDS_CHARS)
        if (this.#limiter.admits(`${this.#name} output`, 0, text.length))
          this.#logger.warn(
            { thread: this.#name, output: truncateText(text, LINE_CHARS_MAX) },
            'a task process wrote past its log',
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

  reportDropped(): void {
    const nowMs = systemClock.monotonicMs()
    if (nowMs - this.#reportedMs < DROPPED_REPORT_MS) return
    this.#reportedMs = nowMs
    for (const { lines, bytes } of this.#limiter.takeDropped())
      this.#logger.warn({ thread: this.#name, lines, bytes }, 'log lines of a task process were dropped')
  }
}
