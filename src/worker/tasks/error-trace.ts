import { truncateText } from '../../config/truncate-text.ts'

/** A status is one record of the log, which takes a million bytes at most. */
const CHARS_MAX = 65_536
const CAUSES_MAX = 20

/** What failed and everything that caused it, as people read it in a status; cut where it would not end. */
export function traceOf(error: unknown): string {
  const lines: string[] = []
  for (let cause = error, depth = 0; depth <= CAUSES_MAX; depth++) {
    lines.push(truncateText(describe(cause), CHARS_MAX))
    const next = cause instanceof Error ? causeOf(cause) : undefined
    if (next === undefined) break
    cause = next
  }
  return truncateText(lines.join('\nCaused by: '), CHARS_MAX)
}

/** Plugins throw anything: what has no text of its own has a getter or a `toString` that throws. */
function describe(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack ?? `${error.name}: ${error.message}`) : String(error)
  } catch {
    return 'an error that cannot be described'
  }
}

function causeOf(error: Error): unknown {
  try {
    return error.cause
  } catch {
    return undefined
  }
}
