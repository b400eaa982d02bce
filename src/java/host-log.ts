/** A line of a host's output. */
export type HostLogLine = {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
  /** The Java logger; undefined for what was printed. */
  readonly logger: string | undefined
  /** Where the line was printed; undefined for that of a logger. */
  readonly stream: PrintedStream | undefined
  /** The connector or task of the thread in the form of Kafka Connect, as `taskOfContext` reads it; undefined for none. */
  readonly context: string | undefined
  readonly message: string
  readonly trace: string | undefined
  /** The host accepts connections. */
  readonly isListening: boolean
  /** Plugin code in the JVM does not return. */
  readonly isStuck: boolean
}

/** The standard output and the standard error of a process. */
export type PrintedStream = 'stdout' | 'stderr'

/** Levels of a JVM's loggers, in the order of severity. */
export type HostLogLevel = 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR' | 'OFF'

/** The level of a logger and, unless they have levels of their own, of those below it; `root` is the level of all. */
export type HostLoggerLevel = { readonly logger: string; readonly level: HostLogLevel }

/** The levels that a worker sets for the loggers of its JVMs. */
export type LogLevelSource = {
  readonly current: () => readonly HostLoggerLevel[]
  readonly onChange: (listener: (changed: readonly HostLoggerLevel[]) => void) => void
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const
const STREAMS = ['stdout', 'stderr'] as const
const MESSAGE_CHARACTERS_MAX = 50_000

/**
 * Reads a line in JSON, which has what a logger wrote or plugin code printed; any other line was printed to `stream` by the
 * JVM or by native code, whose connector is unknown.
 */
export function parseHostLog(text: string, stream: PrintedStream): HostLogLine {
  const read = parseObject(text)
  const level = LEVELS.find((known) => known === read?.['level'])
  const message = read?.['message']
  if (level === undefined || typeof message !== 'string') {
    const printed = text.slice(0, MESSAGE_CHARACTERS_MAX)
    return {
      level: 'info',
      logger: undefined,
      stream,
      context: undefined,
      message: printed,
      trace: undefined,
      isListening: false,
      isStuck: false,
    }
  }
  const logger = textOf(read?.['logger'])
  const isOfHost = logger === 'dev.weir.host'
  return {
    level,
    logger,
    stream: STREAMS.find((known) => known === read?.['stream']),
    context: textOf(read?.['context']),
    message,
    trace: textOf(read?.['trace']),
    isListening: isOfHost && message === 'listening',
    isStuck: isOfHost && message === 'plugin code does not return',
  }
}

/** The log fields of a context: `[CONNECTOR|task-0] ` for a task, `[CONNECTOR|worker] ` for a connector itself. */
export function taskOfContext(context: string | undefined): { readonly connector?: string; readonly task?: number } {
  const [, connector, task] = /^\[(.*)\|(?:task-(\d+)|worker)\] $/s.exec(context ?? '') ?? []
  if (connector === undefined) return {}
  return task === undefined ? { connector } : { connector, task: Number(task) }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
