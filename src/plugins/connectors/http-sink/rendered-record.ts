import { isUtf8 } from 'node:buffer'
import { javaText } from '../../../java-compat/java-text.ts'
import { jsonWriter, plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import { DataError, type Schema, type SinkRecord } from '../../../sdk/index.ts'
import { isTemplate, type Template, template } from '../http/template.ts'
import type { BatchSettings, HttpSinkSettings } from './settings.ts'

/** A record prepared for sending. Records with the same `target` can be sent in one request. */
export type RenderedRecord = {
  readonly record: SinkRecord
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** The body; undefined for a request without a body. */
  readonly text: string | undefined
  readonly target: string
}

/** Returns a function that renders records. It throws a `DataError` if a record cannot be sent. */
export function recordRenderer(settings: HttpSinkSettings): (record: SinkRecord) => RenderedRecord {
  const { format, rewrite, method } = settings
  const isKeyed = settings.url.includes('${key}')
  const url = urlTemplate(settings.url)
  const deleteUrl = isKeyed ? url : urlTemplate(`${settings.url.replace(/\/$/, '')}/\${key}`)
  const batchKey = template(settings.batch.keyPattern)
  const headersOf = headerWriter(withContentType(settings))
  const bodyOf = bodyWriter(format)
  return (record) => {
    const isDelete = record.value === null || record.value === undefined
    const address = (isDelete ? deleteUrl : url)(record)
    if (!URL.canParse(address))
      throw new DataError(
        `'${shownAddress(address)}' is not a valid URL: check http.api.url and the values that it inserts`,
      )
    const headers = headersOf(record)
    return {
      record,
      method: isDelete ? 'DELETE' : method,
      url: address,
      headers,
      text: isDelete ? undefined : rewrite(bodyOf(record)),
      target: JSON.stringify([isDelete, address, headers, isDelete ? null : batchKey(record)]),
    }
  }
}

/**
 * Returns a function that renders the URL of a record. It throws a `DataError` if a value of the record makes a path segment
 * empty, `.` or `..`, because the URL is then that of another resource: a `DELETE` with the key `.` would delete the collection.
 */
function urlTemplate(text: string): Template {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(text) ?? []
  const segments = path.split('/').map((part) => ({ part, render: template(part, encodeURIComponent) }))
  const query = template(rest, encodeURIComponent)
  return (record) => {
    const rendered = segments.map(({ part, render }) => {
      const segment = render(record)
      if (!isTemplate(part) || !/^\.{0,2}$/.test(segment)) return segment
      throw new DataError(
        `the values of the record make the part '${part}' of http.api.url '${segment}': another resource`,
      )
    })
    return rendered.join('/') + query(record)
  }
}

/** Removes the parts of a URL that may contain a secret: credentials, query and fragment. */
function shownAddress(address: string): string {
  return address.split(/[?#]/)[0]!.replace(/\/\/[^/]*@/, '//')
}

/** Groups consecutive records with the same target, up to `recordsMax` per batch. Keeps the order. */
export function toBatches(
  records: readonly RenderedRecord[],
  recordsMax: number,
): readonly (readonly RenderedRecord[])[] {
  const batches: RenderedRecord[][] = []
  for (const record of records) {
    const last = batches.at(-1)
    const fits = last !== undefined && last.length < recordsMax && last[0]!.target === record.target
    if (fits && record.text !== undefined) last.push(record)
    else batches.push([record])
  }
  return batches
}

/** Returns the body of one request. */
export function toBody(
  records: readonly RenderedRecord[],
  { prefix, separator, suffix }: BatchSettings,
): string | undefined {
  if (records[0]?.text === undefined) return undefined
  return `${prefix}${records.map(({ text }) => text).join(separator)}${suffix}`
}

/**
 * Returns the lane of a record. Records with the same key, or of the same partition if they have no key, share a lane
 * and are sent in order.
 */
export function laneOf({ origin, key }: SinkRecord, lanes: number): number {
  if (lanes === 1) return 0
  const name = key === null || key === undefined ? `${origin.topic}-${origin.partition}` : plainJson(key)
  let hash = 0
  for (let index = 0; index < name.length; index++) hash = (Math.imul(hash, 31) + name.charCodeAt(index)) | 0
  return (hash >>> 0) % lanes
}

function withContentType({ headers, format }: HttpSinkSettings): HttpSinkSettings['headers'] {
  if (headers.some(([name]) => name === 'content-type')) return headers
  return [['content-type', format === 'string' ? 'text/plain; charset=utf-8' : 'application/json'], ...headers]
}

function headerWriter(headers: HttpSinkSettings['headers']): (record: SinkRecord) => Readonly<Record<string, string>> {
  if (!headers.some(([, value]) => isTemplate(value))) {
    const constant = Object.fromEntries(headers)
    return () => constant
  }
  const templates: readonly (readonly [string, Template])[] = headers.map(([name, value]) => [name, template(value)])
  return (record) =>
    Object.fromEntries(
      templates.map(([name, value]) => {
        const text = value(record)
        if (/[^\t\x20-\x7e\x80-\xff]/.test(text))
          throw new DataError(`the value of the header ${name} contains characters that are not allowed in headers`)
        return [name, text]
      }),
    )
}

function bodyWriter(format: HttpSinkSettings['format']): (record: SinkRecord) => string {
  if (format === 'string') {
    return ({ value, valueSchema }) => (value instanceof Uint8Array ? utf8(value) : javaText(value, valueSchema))
  }
  const writers = new WeakMap<Schema, (value: unknown) => string>()
  const write = (value: unknown, schema: Schema | null) => {
    if (schema === null) return plainJson(value)
    const known = writers.get(schema) ?? jsonWriter(schema, { decimals: 'BASE64', nullsToDefaults: true })
    writers.set(schema, known)
    return known(value)
  }
  return ({ value, valueSchema }) => {
    if (value instanceof Uint8Array) return utf8(value)
    // Text that is already JSON is sent unchanged.
    if (typeof value === 'string' && (format === 'auto' || isJson(value))) return value
    return write(value, valueSchema)
  }
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function utf8(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  throw new DataError(`a value of ${bytes.length} bytes cannot be sent because it is not valid UTF-8`)
}
