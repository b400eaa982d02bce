import { createRequire } from 'node:module'
import pino from 'pino'
import { SecretMasker } from '../secrets/secret-masker.ts'
import { activeSpan, isTracing } from '../tracing.ts'
import { maskLogLine } from './log-masking.ts'

export type Logger = pino.Logger
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'

export type LoggerOptions = {
  readonly level?: LogLevel
  /** Human-readable lines instead of JSON. Default: if standard error is a terminal. */
  readonly pretty?: boolean
  /** Receives the JSON lines instead of standard error, for a program that draws on the terminal. */
  readonly write?: (line: string) => void
}

/**
 * The log of the process on standard error: a constant message and fields. `warn` means that the program recovered,
 * `error` that a person has to act. Synchronous, so that the last line before an exit is written. Values known to
 * `secretMaskerOf` the logger, and strings of members with secret names, are masked in every line.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const level = options.level ?? 'info'
  const settings: pino.LoggerOptions = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  const { write } = options
  if (write !== undefined) return masking(settings, { write })
  if (options.pretty ?? process.stderr.isTTY === true) return masking(settings, prettyStream())
  const formatters = { level: (label: string) => ({ level: label }) }
  return masking({ ...settings, formatters }, pino.destination({ fd: 2, sync: true }))
}

/** The masker of a logger and its children; add values to it as they become known. */
export function secretMaskerOf(logger: Logger): SecretMasker {
  return (logger as MaskingLogger)[SECRETS] ?? new SecretMasker()
}

/**
 * Calls `listener` with each line that the logger, its parents or their other children write, as JSON with secrets masked.
 * Returns a function that removes the listener.
 */
export function onLogLine(logger: Logger, listener: (line: string) => void): () => void {
  const listeners = (logger as MaskingLogger)[LISTENERS]
  listeners?.add(listener)
  return () => listeners?.delete(listener)
}

const SECRETS = Symbol('secrets')
const LISTENERS = Symbol('listeners')
type MaskingLogger = Logger & {
  readonly [SECRETS]?: SecretMasker
  readonly [LISTENERS]?: Set<(line: string) => void>
}

/** Children inherit the masker and the listeners. */
function masking(options: pino.LoggerOptions, stream: pino.DestinationStream): Logger {
  const settings = isTracing() ? { ...options, mixin: spanFields } : options
  const secrets = new SecretMasker()
  const listeners = new Set<(line: string) => void>()
  const write = (line: string) => {
    const masked = maskLogLine(line, secrets)
    stream.write(masked)
    for (const listener of listeners) listener(masked)
  }
  return Object.assign(pino(settings, { write }), { [SECRETS]: secrets, [LISTENERS]: listeners })
}

/** The names of OpenTelemetry for log formats without fields of their own for traces. */
function spanFields(): object {
  const span = activeSpan()
  return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId }
}

/** A logger without output, for tests and libraries. */
export function silentLogger(): Logger {
  return Object.assign(pino({ level: 'silent' }), { [SECRETS]: new SecretMasker() })
}

function prettyStream(): pino.DestinationStream {
  // Loaded on demand: it takes 20 ms and is not needed in a pod.
  const pretty = createRequire(import.meta.url)('pino-pretty') as (options: object) => pino.DestinationStream
  return pretty({ destination: 2, sync: true, translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname' })
}
