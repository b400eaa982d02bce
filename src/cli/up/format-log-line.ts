import { printableText } from '../terminal/printable-text.ts'
import { red, yellow } from '../terminal/style.ts'

const ERROR = 50

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
  return Number(level) >= ERROR ? red(short) : yellow(short)
}
