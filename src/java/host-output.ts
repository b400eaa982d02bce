import type { Readable } from 'node:stream'
import { type Clock, systemClock } from '../common/clock.ts'
import { type LogLimits, LogRateLimiter } from '../common/logging/log-rate-limiter.ts'
import { type HostLogLine, type PrintedStream, parseHostLog } from './host-log.ts'

export type HostOutputOptions = {
  /** Limits of the lines of one task or connector, per level. */
  readonly limits: LogLimits
  /** Receives the lines within the limits, and a warning about dropped ones every 5 s. */
  readonly onLine: (line: HostLogLine) => void
  readonly clock?: Clock
}

/** A longer line is cut; the rest of it is discarded. */
export const HOST_LINE_CHARS_MAX = 256 * 1024
/** Characters per second that are read from a pipe, with those that JSON adds. A JVM that writes more waits for the full pipe. */
export const PIPE_CHARS_PER_SECOND = 2 * 1024 * 1024
const REPORT_INTERVAL_MS = 5_000
const LAST_LINES = 20
const LAST_LINE_CHARS = 2_000

/** Reads the output of a JVM, which its plugins control: limits the length and the rate of lines. */
export class HostOutput {
  readonly #onLine: (line: HostLogLine) => void
  readonly #clock: Clock
  readonly #limiter: LogRateLimiter
  readonly #lastLines: string[] = []
  readonly #ended = new AbortController()

  constructor({ limits, onLine, clock = systemClock }: HostOutputOptions) {
    this.#onLine = onLine
    this.#clock = clock
    this.#limiter = new LogRateLimiter(limits, () => clock.monotonicMs())
    void this.#reportPeriodically()
  }

  /** The end of the output, to explain an exit. Complete lines, whether or not they were dropped. */
  get lastLines(): readonly string[] {
    return this.#lastLines
  }

  follow(stream: Readable, name: PrintedStream): void {
    let rest = ''
    let isCut = false
    let leftChars = PIPE_CHARS_PER_SECOND
    stream.setEncoding('utf8')
    stream.on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      for (const part of parts) {
        if (!isCut) this.#take(part, name)
        isCut = false
      }
      if (rest.length > HOST_LINE_CHARS_MAX) {
        if (!isCut) this.#take(rest, name)
        isCut = true
        rest = ''
      }
      leftChars -= text.length
      if (leftChars > 0) return
      stream.pause()
      void this.#clock
        .sleep(1_000, this.#ended.signal)
        .catch(() => undefined)
        .then(() => {
          leftChars = PIPE_CHARS_PER_SECOND
          stream.resume()
        })
    })
    stream.on('end', () => {
      if (rest !== '' && !isCut) this.#take(rest, name)
    })
    stream.on('error', () => undefined)
  }

  /** Ends the limit of the rate and the reports. To be called when the JVM has exited. */
  end(): void {
    this.#ended.abort()
    this.#reportDropped()
  }

  #take(text: string, stream: PrintedStream): void {
    const line = parseHostLog(text.slice(0, HOST_LINE_CHARS_MAX), stream)
    this.#lastLines.push(line.message.slice(0, LAST_LINE_CHARS))
    if (this.#lastLines.length > LAST_LINES) this.#lastLines.shift()
    if (this.#limiter.admits(line.context ?? '', LEVELS[line.level], text.length)) this.#onLine(line)
  }

  async #reportPeriodically(): Promise<void> {
    const { signal } = this.#ended
    while (!signal.aborted) {
      await this.#clock.sleep(REPORT_INTERVAL_MS, signal).catch(() => undefined)
      if (!signal.aborted) this.#reportDropped()
    }
  }

  #reportDropped(): void {
    for (const { source, lines, bytes } of this.#limiter.takeDropped()) {
      this.#onLine({
        level: 'warn',
        logger: undefined,
        stream: undefined,
        context: source === '' ? undefined : source,
        message: `${lines} log lines (${bytes} bytes) were dropped: more than worker.task.log.*.per.second allows`,
        trace: undefined,
        isListening: false,
        isStuck: false,
      })
    }
  }
}

/** Pino's numbers of the levels. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50 } as const
