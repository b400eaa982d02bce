import { javaText } from '../../../java-compat/java-text.ts'
import { type ConnectRecord, DataError } from '../../../sdk/index.ts'

/** The parts of a sink record that a template can contain. */
export type TemplateRecord = Pick<ConnectRecord, 'topic' | 'key' | 'keySchema' | 'value' | 'valueSchema'> & {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number | null
}

/** Throws a `DataError` if the record does not have a value for a placeholder. */
export type Template = (record: TemplateRecord) => string

const PLACEHOLDER = /\$\{([^}:]+)\}/g

/**
 * Compiles a text with the placeholders `${topic}`, `${key}`, `${partition}`, `${offset}`, `${timestamp}` (ms),
 * `${key.field}`, and `${field}` or `${field.inner}` of the value. `encode` is applied to each inserted value.
 */
export function template(text: string, encode: (value: string) => string = (value) => value): Template {
  if (!isTemplate(text)) return () => text
  const parts = text.split(PLACEHOLDER)
  return (record) => parts.map((part, index) => (index % 2 === 0 ? part : encode(lookUp(part, record)))).join('')
}

export function isTemplate(text: string): boolean {
  return text.search(PLACEHOLDER) >= 0
}

function lookUp(name: string, record: TemplateRecord): string {
  const found = lookUpValue(name, record)
  if (found !== undefined && found !== null) return textOf(found)
  throw new DataError(`the record has no value for the placeholder \${${name}}`)
}

function lookUpValue(name: string, record: TemplateRecord): unknown {
  switch (name) {
    case 'topic':
      return record.topic
    case 'partition':
      return record.partition
    case 'offset':
      return record.offset
    case 'timestamp':
      return record.timestampMs
    case 'key':
      return javaKey(record)
    default:
      return name.startsWith('key.')
        ? follow(record.key, name.slice('key.'.length).split('.'))
        : follow(record.value, name.split('.'))
  }
}

function javaKey({ key, keySchema }: TemplateRecord): string | null {
  return key === null || key === undefined ? null : key instanceof Uint8Array ? textOf(key) : javaText(key, keySchema)
}

function follow(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    if (at instanceof Map) return at.get(name)
    const isObject = typeof at === 'object' && at !== null && Object.hasOwn(at, name)
    return isObject ? (at as Record<string, unknown>)[name] : undefined
  }, value)
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString() : javaText(value, null)
}
