import type { PluginFailure } from '../../plugin-host.ts'
import { traceOf } from '../../tasks/error-trace.ts'

const MESSAGE_LENGTH_MAX = 10_000
const TRACE_LENGTH_MAX = 50_000

/** Whatever plugin code threw, as text of bounded length. Safe for values whose getters and `toString` throw. */
export function toPluginFailure(thrown: unknown): PluginFailure {
  try {
    const message = thrown instanceof Error ? textOf(thrown.message) : textOf(thrown)
    return { message: cut(message, MESSAGE_LENGTH_MAX), trace: cut(textOf(traceOf(thrown)), TRACE_LENGTH_MAX) }
  } catch {
    const message = 'the plugin threw a value that cannot be shown as text'
    return { message, trace: message }
  }
}

/** A plain string, also of an object that pretends to be one. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : `${String(value)}`
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}… (${text.length} characters)`
}
