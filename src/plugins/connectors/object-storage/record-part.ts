import { javaText } from '../../../java-compat/java-text.ts'
import { plainJson } from '../../../java-compat/json/connect-json-writer.ts'
import { array, DataError, type Schema, type SinkRecord, STRING, struct } from '../../../sdk/index.ts'
import type { FileFormat } from './file-format.ts'

/** A part of each record, its value, key or headers, which is stored in files that contain nothing else. */
export type RecordPart = {
  /** Precedes the extension of the format. */
  readonly extension: string
  readonly format: FileFormat
  /** Whether records without a value have it. */
  readonly ofTombstones: boolean
  /** Throws a `DataError` for a record that lacks it. */
  of(record: SinkRecord): { readonly value: unknown; readonly schema: Schema | null }
}

export function valuePart(format: FileFormat): RecordPart {
  return {
    extension: '',
    format,
    ofTombstones: false,
    of: ({ value, valueSchema }) => ({ value, schema: valueSchema }),
  }
}

export function keyPart(format: FileFormat): RecordPart {
  const known = new WeakMap<Schema, Schema>()
  const wrapped = (key: Schema): Schema => {
    const schema = known.get(key) ?? struct('RecordKey', { key })
    known.set(key, schema)
    return schema
  }
  return {
    extension: '.keys',
    format,
    ofTombstones: true,
    of({ key, keySchema }) {
      if (key === null || key === undefined) throw new DataError('the record has no key, which store.kafka.keys needs')
      return format.needsStruct && keySchema !== null
        ? { value: { key }, schema: wrapped(keySchema) }
        : { value: key, schema: keySchema }
    },
  }
}

const HEADERS = array({
  type: 'struct',
  fields: [
    { name: 'key', schema: STRING },
    { name: 'value', schema: STRING },
  ],
})
const HEADERS_IN_STRUCT = struct('RecordHeaders', { headers: HEADERS })

/** Headers as an array, in the member `headers` of an object if the format is JSON or needs that. */
export function headerPart(format: FileFormat): RecordPart {
  const isEnveloped = format.extension === '.json' || format.needsStruct === true
  return {
    extension: '.headers',
    format,
    ofTombstones: true,
    of({ headers }) {
      if (headers.length === 0) throw new DataError('the record has no headers, which store.kafka.headers needs')
      const value = headers.map(({ key, value: held, schema }) => ({ key, value: headerText(held, schema) }))
      return isEnveloped ? { value: { headers: value }, schema: HEADERS_IN_STRUCT } : { value, schema: HEADERS }
    },
  }
}

/** Structured values as JSON, and bytes as base64. */
function headerText(value: unknown, schema: Schema | null): string {
  if (value === null || value === undefined) return ''
  if (
    typeof value === 'object' &&
    !(value instanceof Date) &&
    !(value instanceof Uint8Array) &&
    schema?.name === undefined
  )
    return plainJson(value)
  return javaText(value, schema)
}
