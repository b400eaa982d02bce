import { DataError, type SinkRecord } from '../../../sdk/index.ts'
import { follow } from '../http-source/json-pointer.ts'
import { type DocumentWriter, documentWriter } from './document-writer.ts'
import type { SearchSinkSettings } from './search-sink-settings.ts'

/** One operation of a bulk request. */
export type DocumentOperation = {
  readonly record: SinkRecord
  readonly action: 'index' | 'create' | 'update' | 'delete'
  readonly resource: string
  /** Undefined: the server generates one. */
  readonly id: string | undefined
  /** Whether the server accepts it only if its version is greater than that of the document. */
  readonly isVersioned: boolean
  /** The lines of the bulk request, each with its end. */
  readonly text: string
  readonly bytes: number
}

/** Attempts of the server for an update that conflicts with another one. */
const UPDATE_RETRIES = 5

/** Converts records to operations. `convert` throws a `DataError` for a record that cannot be a document. */
export class OperationFactory {
  readonly #settings: SearchSinkSettings
  readonly #write: DocumentWriter

  constructor(settings: SearchSinkSettings) {
    this.#settings = settings
    this.#write = documentWriter(settings)
  }

  /** Undefined for a record that changes nothing: a deletion without a key. */
  convert(record: SinkRecord, resource: string): DocumentOperation | undefined {
    const isDelete = record.value === null || record.value === undefined
    if (isDelete && (record.key === null || record.key === undefined)) return undefined
    const action = this.#actionOf(isDelete)
    const id = this.#idOf(record, isDelete)
    const version = this.#versionOf(record, action)
    const document = isDelete ? undefined : this.#write(record)
    const routing = this.#routingOf(record, document)
    const members = [
      `"_index":${JSON.stringify(resource)}`,
      ...(id === undefined ? [] : [`"_id":${JSON.stringify(id)}`]),
      ...(version === undefined ? [] : [`"version":${version},"version_type":"external"`]),
      ...(routing === undefined ? [] : [`"routing":${JSON.stringify(routing)}`]),
      ...(action === 'update' ? [`"retry_on_conflict":${UPDATE_RETRIES}`] : []),
    ]
    const source = action === 'update' ? `{"doc":${document},"doc_as_upsert":true}` : document
    const text = [`{"${action}":{${members.join(',')}}}`, ...(source === undefined ? [] : [source]), ''].join('\n')
    const isVersioned = version !== undefined
    return { record, action, resource, id, isVersioned, text, bytes: Buffer.byteLength(text) }
  }

  #idOf(record: SinkRecord, isDelete: boolean): string | undefined {
    const strategy = this.#settings.idOf(record.topic)
    if (strategy === 'key') return keyText(record)
    if (strategy === 'generated' && !isDelete) return undefined
    return `${record.topic}+${record.partition}+${record.offset}`
  }

  #actionOf(isDelete: boolean): DocumentOperation['action'] {
    if (isDelete) return 'delete'
    if (this.#settings.write === 'upsert') return 'update'
    return this.#settings.isDataStream ? 'create' : 'index'
  }

  /** An int64 as text, which is an exact JSON number. Undefined: an operation without an external version. */
  #versionOf(record: SinkRecord, action: DocumentOperation['action']): string | undefined {
    const { versionHeader, idOf } = this.#settings
    if (action === 'update' || action === 'create' || idOf(record.topic) !== 'key') return undefined
    if (versionHeader === undefined) return String(record.offset)
    const header = record.headers.findLast(({ key }) => key === versionHeader)
    if (header === undefined)
      throw new DataError(`the record has no header '${versionHeader}' (external.version.header)`)
    const { value } = header
    const text = value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)
    if (!/^\d{1,19}$/.test(text) || BigInt(text) > VERSION_MAX) {
      throw new DataError(
        `the header '${versionHeader}' (external.version.header) is not an integer from 0 to 2^63 - 1`,
      )
    }
    return String(BigInt(text))
  }

  #routingOf(record: SinkRecord, document: string | undefined): string | undefined {
    const { routing } = this.#settings
    if (routing.by === 'none') return undefined
    if (routing.by === 'key') return keyText(record)
    if (document === undefined) return undefined
    const value = follow(JSON.parse(document), routing.path)
    if ((typeof value === 'string' && value !== '') || typeof value === 'number') return String(value)
    throw new DataError(
      `the value has no text or number at /${routing.path.join('/')} (routing.type.record.value.path)`,
    )
  }
}

const VERSION_MAX = 2n ** 63n - 1n

/** The key as the id of a document: a text or an integer. */
function keyText({ key, keySchema }: SinkRecord): string {
  if (key === null || key === undefined) throw new DataError('the record has no key for the id of its document')
  const isInteger = typeof key === 'bigint' || (typeof key === 'number' && Number.isInteger(key))
  const isFloat = keySchema?.type.startsWith('float')
  if (isFloat || !(typeof key === 'string' || isInteger)) {
    const type = keySchema?.type ?? (typeof key === 'number' ? 'float64' : Array.isArray(key) ? 'array' : typeof key)
    throw new DataError(`a key of type ${type} cannot be the id of a document: expected a text or an integer`)
  }
  const text = String(key)
  if (text === '') throw new DataError('an empty key cannot be the id of a document')
  return text
}
