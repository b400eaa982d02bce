import { truncateText } from '../../common/truncate-text.ts'

/** A status is one record in the status topic, where brokers accept about 1 MB by default. */
const CHARS_MAX = 65_536
const CAUSES_MAX = 20

/** Formats an error and its causes as the trace of a status: at most 20 causes and 65,536 characters. */
export function traceOf(error: unknown): string {
  const lines: string[] = []
  for (let cause = error, depth = 0; depth <= CAUSES_MAX; depth++) {
    const described = cause
    lines.push(
      truncateText(
        describeSafely(() => stackOf(described)),
        CHARS_MAX,
      ),
    )
    const next = cause instanceof Error ? causeOf(cause) : undefined
    if (next === undefined) break
    cause = next
  }
  return truncateText(lines.join('\nCaused by: '), CHARS_MAX)
}

/** Converts the result of `read` to a string. Plugins can throw any value, including one whose getters or `toString` throw. */
export function describeSafely(read: () => unknown): string {
  try {
    return String(read() ?? '')
  } catch {
    return 'an error that cannot be described'
  }
}

function stackOf(error: unknown): unknown {
  return error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : String(error)
}

function causeOf(error: Error): unknown {
  try {
    return error.cause
  } catch {
    return undefined
  }
}
