import { javaText } from '../../../java-compat/java-text.ts'
import { toBuffer } from '../../../sdk/bytes.ts'
import { LOGICAL, type Schema } from '../../../sdk/index.ts'

/** Converts a header value to text like Java's Values.convertToString. */
export function headerText(value: unknown, schema: Schema | null, inside = false): string {
  if (typeof value === 'string') return inside ? `"${value.replace(/[\\"]/g, '\\$&')}"` : value
  if (value instanceof Date) return dateText(value.getTime())
  if (schema?.name === LOGICAL.time && typeof value === 'number') return dateText(value)
  if (value instanceof Uint8Array) return toBuffer(value).toString('base64')
  if (Array.isArray(value)) return `[${value.map((item) => headerText(item, schema?.items ?? null, true)).join(',')}]`
  if (value instanceof Map) return mapText(value, schema)
  if (schema?.type === 'struct') return structText(value as Record<string, unknown>, schema)
  return javaText(value, schema)
}

function mapText(map: ReadonlyMap<unknown, unknown>, schema: Schema | null): string {
  const entries = [...map].map(
    ([key, value]) =>
      `${headerText(key, schema?.keys ?? null, true)}:${headerText(value, schema?.items ?? null, true)}`,
  )
  return `{${entries.join(',')}}`
}

function structText(value: Readonly<Record<string, unknown>>, { fields = [] }: Schema): string {
  return `{${fields.map(({ name, schema }) => `"${name}":${headerText(value[name], schema, true)}`).join(',')}}`
}

const DAY_MS = 86_400_000

/** Chooses between time, date and timestamp by the number alone, as Java does. */
function dateText(ms: number): string {
  const text = new Date(ms).toISOString()
  if (ms >= 0 && ms < DAY_MS) return text.slice(text.indexOf('T') + 1)
  return ms % DAY_MS === 0 ? text.slice(0, text.indexOf('T')) : text
}
