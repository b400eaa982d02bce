import { printableText } from '../terminal/printable-text.ts'
import { red, type Style, yellow } from '../terminal/style.ts'

const WARN = 40
const ERROR = 50
/** The loggers write numbers, or names. */
const LEVELS: Readonly<Record<string, number>> = { warn: WARN, error: ERROR, fatal: 60 }

/** A JSON log line as time, message and fields, truncated to the terminal's width. */
export function formatLogLine(json: string, width: number): string {
  const { time, level, msg, err, program, ...fields } = JSON.parse(json) as Record<string, unknown>
  const reason = (err as { message?: unknown } | undefined)?.message
  const rest = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const parts = [program, msg, reason, ...rest].filter((part) => part !== undefined)
  const text = printableText(`${String(time).slice(11, 19)} ${parts.join(' ')}`.replace(/\s+/g, ' '))
  const short = text.length > width ? `${text.slice(0, width - 1)}…` : text
  return styleOf(LEVELS[String(level)] ?? Number(level))(short)
}

function styleOf(level: number): Style {
  if (level >= ERROR) return red
  return level >= WARN ? yellow : (text) => text
}
