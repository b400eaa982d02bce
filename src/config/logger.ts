import { createRequire } from 'node:module'
import pino from 'pino'
import { MASK, Secrets } from './secrets.ts'

export type Logger = pino.Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export type LoggerOptions = {
  readonly level?: LogLevel
  /** Lines for people instead of JSON. Default: when standard error is a terminal. */
  readonly pretty?: boolean
  /** Takes the JSON lines instead of standard error: for a program that draws on the terminal. */
  readonly write?: (line: string) => void
}

/**
 * The process's log, on standard error: a constant message and fields. `warn` = we recovered; `error` = a person must
 * act. Synchronous, so that the last line before an exit is written. Lines never tell what `secretsOf` it holds.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const level = options.level ?? 'info'
  const redact = { paths: ['password', 'authorization', '*.password', '*.authorization'], censor: MASK }
  const settings: pino.LoggerOptions = { level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  const { write } = options
  if (write !== undefined) return discreet(settings, { write })
  if (options.pretty ?? process.stderr.isTTY === true) return discreet(settings, prettyStream())
  const formatters = { level: (label: string) => ({ level: label }) }
  return discreet({ ...settings, formatters }, pino.destination({ fd: 2, sync: true }))
}

/** What this log and its children keep to themselves; add to it what becomes known. */
export function secretsOf(logger: Logger): Secrets {
  return (logger as Discreet)[SECRETS] ?? new Secrets()
}

const SECRETS = Symbol('secrets')
type Discreet = Logger & { readonly [SECRETS]?: Secrets }

/** Children have it of their parent. */
function discreet(settings: pino.LoggerOptions, stream: pino.DestinationStream): Logger {
  const secrets = new Secrets()
  const logger = pino(settings, { write: (line) => stream.write(secrets.mask(line)) })
  return Object.assign(logger, { [SECRETS]: secrets })
}

/** A log that says nothing, for tests and for libraries that want one. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}

function prettyStream(): pino.DestinationStream {
  // Loaded only when a person looks: it costs 20 ms and is not needed in a pod.
  const pretty = createRequire(import.meta.url)('pino-pretty') as (options: object) => pino.DestinationStream
  return pretty({ destination: 2, sync: true, translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' })
}
