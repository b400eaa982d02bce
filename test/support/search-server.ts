import { onTestFinished } from 'vitest'
import { elasticsearchSink } from '../../src/plugins/connectors/search/elasticsearch-sink.ts'
import { type HarnessRecord, runSink } from '../../src/sdk/index.ts'
import { type ReceivedRequest, type Reply, type Responder, startHttpServer } from './http-server.ts'

type Action = 'index' | 'create' | 'update' | 'delete'
type Metadata = {
  readonly _index: string
  readonly _id?: string
  readonly version?: number
  readonly version_type?: string
  readonly routing?: string
}
/** An operation as the server received it. */
export type ReceivedOperation = Metadata & { readonly action: Action; readonly source: unknown }
export type ItemFailure = { readonly status: number; readonly type: string; readonly reason?: string }

export type SearchServerOptions = {
  /** Indices that exist with a mapping. Default: none. */
  readonly indices?: readonly string[]
  /** Replies to some requests instead of the server. */
  readonly intercept?: (request: ReceivedRequest) => Reply | undefined
  /** Fails some operations. */
  readonly fail?: (operation: ReceivedOperation) => ItemFailure | undefined
}

/**
 * A server with the API of Elasticsearch as the sinks use it, until the end of the test. It is strict: an operation for a missing index,
 * a request that is not NDJSON, and a version that is not greater are rejected.
 */
export async function startSearchServer({ indices = [], intercept, fail }: SearchServerOptions = {}) {
  const index = new SearchIndices(indices)
  const created: { readonly path: string; readonly body: unknown }[] = []
  const bulks: (readonly ReceivedOperation[])[] = []

  const bulk = (body: string, type: string | undefined): Reply => {
    if (type !== 'application/x-ndjson' || !body.endsWith('\n')) return json(400, { error: { type: 'not NDJSON' } })
    const operations = readBulk(body)
    bulks.push(operations)
    const results = operations.map((one) => {
      const failure = fail?.(one)
      return { [one.action]: failure === undefined ? index.apply(one) : rejected(failure) }
    })
    return json(200, { errors: true, items: results })
  }
  const respond: Responder = (request) => {
    const reply = intercept?.(request)
    if (reply !== undefined) return reply
    const { method, body, headers } = request
    const { pathname } = new URL(request.path, 'http://server')
    if (pathname === '/_bulk') return bulk(body, headers['content-type'])
    const name = decodeURIComponent(pathname.replace(/^\/_data_stream/, '').replace(/\/_mapping$/, '')).slice(1)
    if (method === 'HEAD') return { status: index.mappings.has(name) ? 200 : 404 }
    if (method === 'GET') return json(200, { [name]: { mappings: index.mappings.get(name) } })
    const content = body === '' ? undefined : (JSON.parse(body) as object)
    created.push({ path: pathname, body: content })
    index.mappings.set(name, pathname.endsWith('/_mapping') ? content! : {})
    return json(200, { acknowledged: true })
  }

  return {
    ...(await startHttpServer(respond)),
    /** The bulk requests, each with its operations. */
    bulks,
    /** Indices, mappings, data streams and templates that were created, in order. */
    created,
    mappings: index.mappings,
    /** The stored documents by `INDEX/ID`. */
    documents: () => index.documents(),
  }
}

class SearchIndices {
  readonly mappings: Map<string, object>
  /** A deleted document has no source, and its version stays known. */
  readonly #documents = new Map<string, { readonly source: unknown; readonly version: number }>()

  constructor(indices: readonly string[]) {
    this.mappings = new Map(indices.map((index) => [index, { properties: {} }]))
  }

  apply(operation: ReceivedOperation) {
    const { action, _index, version, source } = operation
    if (!this.mappings.has(_index)) return rejected({ status: 404, type: 'index_not_found_exception' })
    const id = `${_index}/${operation._id ?? `generated-${this.#documents.size}`}`
    const known = this.#documents.get(id) ?? { source: undefined, version: -1 }
    const isOld = action === 'create' ? known.version >= 0 : version !== undefined && version <= known.version
    if (isOld) return rejected({ status: 409, type: 'version_conflict_engine_exception' })
    const next =
      action === 'update' ? { ...(known.source as object), ...(source as { readonly doc: object }).doc } : source
    this.#documents.set(id, { source: next, version: version ?? known.version + 1 })
    if (known.source !== undefined) return { status: 200 }
    return { status: action === 'delete' ? 404 : 201 }
  }

  documents(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      [...this.#documents].flatMap(([id, { source }]) => (source === undefined ? [] : [[id, source]])),
    )
  }
}

function readBulk(body: string): readonly ReceivedOperation[] {
  const lines = body.slice(0, -1).split('\n')
  const operations: ReceivedOperation[] = []
  while (lines.length > 0) {
    const [[action, metadata]] = Object.entries(JSON.parse(lines.shift()!)) as [[Action, Metadata]]
    const source = action === 'delete' ? undefined : (JSON.parse(lines.shift()!) as unknown)
    operations.push({ ...metadata, action, source })
  }
  return operations
}

function rejected({ status, type, reason = type }: ItemFailure) {
  return { status, error: { type, reason } }
}

function json(status: number, body: unknown): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** Runs a sink, without mappings unless the configuration sets them, with a server that has the index `orders` by default. */
export async function startElasticsearchSink(
  config: Readonly<Record<string, string>> = {},
  options: SearchServerOptions = { indices: ['orders'] },
) {
  const server = await startSearchServer(options)
  return { server, ...(await runElasticsearchSink(server.url, config)) }
}

export async function runElasticsearchSink(url: string, config: Readonly<Record<string, string>> = {}) {
  const run = await runSink(elasticsearchSink, {
    config: { 'connection.url': url, 'read.timeout.ms': '60000', 'schema.ignore': 'true', ...config },
  })
  onTestFinished(() => run.stop())
  return { run }
}

export function orderRecord(key: unknown, value: unknown, offset?: number): HarnessRecord {
  return { topic: 'orders', key, value, ...(offset !== undefined && { offset }) }
}
