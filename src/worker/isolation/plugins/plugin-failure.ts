import { truncateText } from '../../../common/truncate-text.ts'
import type { PluginFailure } from '../../plugin-host.ts'
import { traceOf } from '../../tasks/error-trace.ts'

const MESSAGE_LENGTH_MAX = 10_000
const TRACE_LENGTH_MAX = 50_000

/** Converts a thrown value to text of bounded length. Safe for values whose getters or `toString` throw. */
export function toPluginFailure(thrown: unknown): PluginFailure {
  try {
    const message = thrown instanceof Error ? textOf(thrown.message) : textOf(thrown)
    return {
      message: truncateText(message, MESSAGE_LENGTH_MAX),
      trace: truncateText(textOf(traceOf(thrown)), TRACE_LENGTH_MAX),
    }
  } catch {
    const message = 'the plugin threw a value that cannot be shown as text'
    return { message, trace: message }
  }
}

/** Returns a primitive string, even for an object whose `toString` returns something else. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : `${String(value)}`
}
