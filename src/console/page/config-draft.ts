import type { ConnectorConfig } from './wire.ts'

/** A configuration that is being edited, as text and, while the text can be read, as keys. */
export type ConfigDraft = {
  readonly text: string
  /** The last keys that could be read. */
  readonly config: Readonly<Record<string, string>>
  /** Why the text cannot be read. */
  readonly error?: string
}

/** A key that a draft changes; undefined means that the key is absent. */
export type ConfigChange = { readonly key: string; readonly from: string | undefined; readonly to: string | undefined }

export function draftOf(config: ConnectorConfig): ConfigDraft {
  const texts = Object.fromEntries(
    Object.entries(config).flatMap(([key, value]) => (value === null ? [] : [[key, value]])),
  )
  return { config: texts, text: JSON.stringify(texts, null, 2) }
}

/** Undefined removes the key. */
export function withValue(draft: ConfigDraft, key: string, value: string | undefined): ConfigDraft {
  const { [key]: _, ...others } = draft.config
  if (value === undefined) return draftOf(others)
  return draftOf(key in draft.config ? { ...draft.config, [key]: value } : { ...others, [key]: value })
}

/**
 * Reads a text that somebody edits: a JSON object of keys, or the body of `POST /connectors` with `name` and `config`, as
 * examples write it. What cannot be read stays as it is, and the last keys are kept.
 */
export function withText(draft: ConfigDraft, text: string): ConfigDraft {
  const refuse = (error: string): ConfigDraft => ({ config: draft.config, text, error })
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    return refuse(`The text is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isObject(parsed)) return refuse('The text must be a JSON object of configuration keys.')
  const { name, config } = parsed
  const entries = isObject(config) ? { ...config, ...(typeof name === 'string' && { name }) } : parsed
  const invalid = Object.entries(entries).find(([, value]) => typeof value === 'object' && value !== null)
  if (invalid) return refuse(`The value of '${invalid[0]}' must be a string, a number or a boolean.`)
  const texts = Object.entries(entries).flatMap(([key, value]) =>
    value === null ? [] : [[key, String(value)] as const],
  )
  return { config: Object.fromEntries(texts), text }
}

export function changesBetween(before: ConnectorConfig, after: ConnectorConfig): readonly ConfigChange[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return keys.flatMap((key) => {
    const [from, to] = [before[key] ?? undefined, after[key] ?? undefined]
    return from === to ? [] : [{ key, from, to }]
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
