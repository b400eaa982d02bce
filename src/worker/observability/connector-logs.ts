import { truncateText } from '../../common/truncate-text.ts'

/** A line of the log of a connector. Numbers increase; a number is that of one worker. */
export type NumberedLine = { readonly number: number; readonly line: Readonly<Record<string, unknown>> }

/** How much is kept of the log of one connector, and of all of them. Lengths are in characters. */
export type ConnectorLogLimits = {
  readonly linesMax: number
  readonly charsMax: number
  readonly lineCharsMax: number
  readonly totalCharsMax: number
}

export const CONNECTOR_LOG_LIMITS: ConnectorLogLimits = {
  linesMax: 500,
  charsMax: 256 * 1024,
  lineCharsMax: 16 * 1024,
  totalCharsMax: 2 * 1024 * 1024,
}

type Kept = { readonly number: number; readonly text: string }
type Log = { readonly lines: Kept[]; chars: number }

/** A reader that does not read again within this time has left. */
const WATCHED_MS = 30_000
const WATCHED_MAX = 100

/**
 * The last lines of the log of each connector and its tasks, for the console. When all together are too long, the logs that
 * have got no line for longest are removed first.
 */
export class ConnectorLogs {
  readonly #limits: ConnectorLogLimits
  readonly #nowMs: () => number
  /** Called with the name of a connector that somebody reads and that has a new line. */
  readonly #onLine: (connector: string) => void
  /** By connector; the one with the newest line is last. */
  readonly #logs = new Map<string, Log>()
  readonly #watchedUntilMs = new Map<string, number>()
  #chars = 0
  #lastNumber = 0

  constructor(
    monotonicMs: () => number,
    onLine: (connector: string) => void = () => {},
    limits: ConnectorLogLimits = CONNECTOR_LOG_LIMITS,
  ) {
    this.#nowMs = monotonicMs
    this.#onLine = onLine
    this.#limits = limits
  }

  /** Number of characters in memory. */
  get chars(): number {
    return this.#chars
  }

  /** A line as the logger writes it: JSON, with secrets masked. It is ignored if it is not about a connector. */
  add(written: string): void {
    // Most lines of a busy worker are about no connector.
    if (!written.includes('"connector":"')) return
    const { connector, ...fields } = JSON.parse(written) as Record<string, unknown>
    if (typeof connector !== 'string') return
    const text = this.#shortened(written.trimEnd(), fields)
    const log = this.#logs.get(connector) ?? { lines: [], chars: 0 }
    this.#logs.delete(connector)
    this.#logs.set(connector, log)
    log.lines.push({ number: ++this.#lastNumber, text })
    this.#count(log, text.length)
    while (log.lines.length > this.#limits.linesMax || log.chars > this.#limits.charsMax) {
      this.#count(log, -(log.lines.shift()?.text.length ?? 0))
    }
    while (this.#chars > this.#limits.totalCharsMax) this.delete(this.#logs.keys().next().value ?? '')
    if (this.#isWatched(connector)) this.#onLine(connector)
  }

  /** The lines after a number, and the number of the last line. The caller is assumed to read again. */
  read(connector: string, after: number): { readonly last: number; readonly lines: readonly NumberedLine[] } {
    this.#watch(connector)
    const lines = this.#logs.get(connector)?.lines ?? []
    return {
      last: this.#lastNumber,
      lines: lines
        .filter(({ number }) => number > after)
        .map(({ number, text }) => ({ number, line: JSON.parse(text) as NumberedLine['line'] })),
    }
  }

  delete(connector: string): void {
    const log = this.#logs.get(connector)
    if (log === undefined) return
    this.#chars -= log.chars
    this.#logs.delete(connector)
  }

  #count(log: Log, chars: number): void {
    log.chars += chars
    this.#chars += chars
  }

  #shortened(text: string, { level, time, logger, task, msg }: Record<string, unknown>): string {
    const { lineCharsMax } = this.#limits
    if (text.length <= lineCharsMax) return text
    // JSON makes a text at most 6 times as long, and one that is JSON twice as long.
    const shortMessage = truncateText(String(msg), Math.floor(lineCharsMax / 24))
    const line = truncateText(text, Math.floor(lineCharsMax / 4))
    return JSON.stringify({ level, time, logger, task, msg: shortMessage, line })
  }

  #watch(connector: string): void {
    const nowMs = this.#nowMs()
    for (const [name, untilMs] of this.#watchedUntilMs) if (untilMs < nowMs) this.#watchedUntilMs.delete(name)
    if (this.#watchedUntilMs.size < WATCHED_MAX || this.#watchedUntilMs.has(connector))
      this.#watchedUntilMs.set(connector, nowMs + WATCHED_MS)
  }

  #isWatched(connector: string): boolean {
    return (this.#watchedUntilMs.get(connector) ?? Number.NEGATIVE_INFINITY) >= this.#nowMs()
  }
}
