/** A line of a host's output. */
export type HostLogLine = {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error'
  /** The Java logger; undefined for what plugin code printed itself. */
  readonly logger: string | undefined
  /** `CONNECTOR-TASK`, or the name of a connector; undefined for threads of neither. */
  readonly context: string | undefined
  readonly message: string
  readonly trace: string | undefined
  /** The host accepts connections. */
  readonly isListening: boolean
  /** Plugin code in the JVM does not return. */
  readonly isStuck: boolean
}

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
const MESSAGE_CHARACTERS_MAX = 50_000

/** Reads a JSON line of the host's logger; any other line is what plugin code or the JVM printed. */
export function parseHostLog(text: string): HostLogLine {
  const read = parseObject(text)
  const level = LEVELS.find((known) => known === read?.['level'])
  const message = read?.['message']
  if (level === undefined || typeof message !== 'string') {
    const printed = text.slice(0, MESSAGE_CHARACTERS_MAX)
    return {
      level: 'info',
      logger: undefined,
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
    context: textOf(read?.['context']),
    message,
    trace: textOf(read?.['trace']),
    isListening: isOfHost && message === 'listening',
    isStuck: isOfHost && message === 'plugin code does not return',
  }
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
