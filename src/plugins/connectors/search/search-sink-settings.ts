import type { RetryDelays } from '../../../sdk/index.ts'

/** Settings of a sink of Elasticsearch or OpenSearch, independent of the connector whose configuration keys are used. */
export type SearchSinkSettings = {
  /** The index, data stream or alias of a topic. Throws an `Error` for a topic without one. */
  readonly resourceOf: (topic: string) => string
  readonly isDataStream: boolean
  /** Whether a missing index or data stream is created. */
  readonly createsResources: boolean
  /** The template to create for a data stream, unless it exists; undefined: none. */
  readonly templateOf: ((resource: string) => IndexTemplate) | undefined
  readonly idOf: (topic: string) => DocumentId
  readonly ignoresSchema: (topic: string) => boolean
  /** `upsert` adds and replaces the fields of a record, `insert` replaces the document. */
  readonly write: 'insert' | 'upsert'
  /** Header with the version of documents; undefined: the offset. */
  readonly versionHeader: string | undefined
  readonly routing: Routing
  /** Whether maps with text keys become objects. */
  readonly compactsMaps: boolean
  readonly timestamp: DocumentTimestamp | undefined
  /** How records without a value are handled. `invalid`: as records that cannot be a document. */
  readonly onNull: 'ignore' | 'delete' | 'invalid'
  /** How records that cannot be a document are handled. */
  readonly onInvalid: Handling
  /** How documents that the server rejects are handled. */
  readonly onMalformed: Handling
  /** How documents are handled that have a newer version on the server, or were created before. */
  readonly onSuperseded: Handling
  readonly batch: { readonly recordsMax: number; readonly bytesMax: number }
  /** Maximum number of concurrent requests. */
  readonly requestsMax: number
  readonly retry: { readonly max: number; readonly backoff: RetryDelays }
}

/** How a record that is not stored is handled: left out, logged, or according to `errors.tolerance`. */
export type Handling = 'ignore' | 'warn' | 'reject'

/** The id of a document: the key of the record, its topic, partition and offset, or one that the server generates. */
export type DocumentId = 'key' | 'offset' | 'generated'

export type Routing =
  | { readonly by: 'none' }
  | { readonly by: 'key' }
  | { readonly by: 'value'; readonly path: readonly string[] }

export type DocumentTimestamp = {
  /** The first of these fields that a document has is copied to `@timestamp`. None: the timestamp of the record. */
  readonly fields: readonly string[]
  /** Whether a document keeps an `@timestamp` that it has. */
  readonly keepsExisting: boolean
}

export type IndexTemplate = { readonly name: string; readonly timestampField: string }
