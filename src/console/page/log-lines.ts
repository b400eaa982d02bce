// The log of a connector, as the workers of its group keep it (`GET /ui/api/connectors/{name}/log`).

export type ConnectorLogPart = {
  readonly worker: string
  /** Changes when the worker is restarted, because line numbers then start again. */
  readonly run: string
  /** The number of the newest log line since the worker started. */
  readonly last: number
  readonly lines: readonly { readonly number: number; readonly line: Readonly<Record<string, unknown>> }[]
}
export type ConnectorLogResponse = {
  readonly workers: readonly ConnectorLogPart[]
  readonly missing: readonly string[]
}

export type LogLine = {
  readonly key: string
  readonly worker: string
  /** In ms since 1970; 0 if the line has none. */
  readonly time: number
  readonly level: ShownLevel
  readonly logger: string
  readonly task: number | undefined
  readonly message: string
  /** The other fields; empty if there are none. */
  readonly details: string
}

/** In the order of severity. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type ShownLevel = (typeof LOG_LEVELS)[number]

/** Lines that the page keeps; older ones are removed. */
export const LINES_MAX = 1_000

/** The query of the next request, which gets the lines that the page does not have. */
export function positionAfter(known: ReadonlyMap<string, number>): string {
  return [...known].map(([run, last]) => `${run}:${last}`).join(',')
}

/** Positions of the workers that respond now; a worker that does not respond for a while keeps its position. */
export function nextPosition(
  known: ReadonlyMap<string, number>,
  { workers }: ConnectorLogResponse,
): ReadonlyMap<string, number> {
  const kept = [...known].slice(-POSITIONS_MAX)
  return new Map([...kept, ...workers.map(({ run, last }) => [run, last] as const)])
}
const POSITIONS_MAX = 50

/** The first line of a reason or an error is shown with the message. */
const REASON_CHARS_MAX = 300

/** The known lines and those of a response, in the order of time. A line that is received twice is shown once. */
export function mergeLines(known: readonly LogLine[], { workers }: ConnectorLogResponse): readonly LogLine[] {
  const received = workers.flatMap((part) => part.lines.map(({ number, line }) => toLogLine(part, number, line)))
  if (received.length === 0) return known
  const byKey = new Map([...known, ...received].map((line) => [line.key, line]))
  return [...byKey.values()].sort((a, b) => a.time - b.time).slice(-LINES_MAX)
}

function toLogLine(
  { worker, run }: ConnectorLogPart,
  number: number,
  { level, time, logger, task, msg, program: _, err, ...others }: Readonly<Record<string, unknown>>,
): LogLine {
  const { stack, ...error } = (err ?? {}) as Record<string, unknown>
  const trace = typeof stack === 'string' ? stack : err === undefined ? '' : printed(error)
  const reason = typeof others['reason'] === 'string' ? others['reason'] : trace
  return {
    key: `${run}:${number}`,
    worker,
    time: typeof time === 'string' ? Date.parse(time) || 0 : Number(time) || 0,
    level: levelName(level),
    logger: String(logger ?? ''),
    task: typeof task === 'number' ? task : undefined,
    message: [String(msg ?? ''), reason.split('\n', 1)[0]?.slice(0, REASON_CHARS_MAX)].filter(Boolean).join(': '),
    details: [Object.keys(others).length > 0 ? printed(others) : '', trace].filter(Boolean).join('\n'),
  }
}

/** The loggers write names or, with lines for people, the numbers 10, 20 to 60. */
function levelName(level: unknown): ShownLevel {
  return LOG_LEVELS.find((name, at) => name === level || (at + 1) * 10 === level) ?? 'info'
}

function printed(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/^\{\n|\n\}$/g, '')
}

/** `level` is the lowest level that is shown; `search` matches all that is shown of a line. */
export function filterLines(
  lines: readonly LogLine[],
  { level = '', search = '' }: { readonly level?: string; readonly search?: string },
): readonly LogLine[] {
  const lowest = (LOG_LEVELS as readonly string[]).indexOf(level)
  const text = search.toLowerCase()
  return lines.filter(
    (line) =>
      LOG_LEVELS.indexOf(line.level) >= lowest &&
      `${line.message}\n${line.details}\n${line.worker}\n${line.logger}`.toLowerCase().includes(text),
  )
}
