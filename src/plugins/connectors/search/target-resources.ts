import { DataError, RetriableError, type SinkRecord } from '../../../sdk/index.ts'
import { parseStatuses, RETRIED_STATUSES } from '../http/retriable-status.ts'
import { NoResponseError, type TransportResponse } from '../http/transport.ts'
import { indexMapping } from './index-mapping.ts'
import { adviceOnStatus, describeFailure, type SearchServer, type SearchServerRequest } from './search-server.ts'
import type { SearchSinkSettings } from './search-sink-settings.ts'

const isRetriable = parseStatuses(RETRIED_STATUSES)

/** The indices and data streams that documents are written to. Creates missing ones and their mappings. */
export class TargetResources {
  readonly #server: SearchServer
  readonly #settings: SearchSinkSettings
  readonly #existing = new Set<string>()
  readonly #mapped = new Set<string>()

  constructor(server: SearchServer, settings: SearchSinkSettings) {
    this.#server = server
    this.#settings = settings
  }

  /** Resolves when the resource accepts the record. Rejects with a `DataError` if this record prevents it. */
  async prepare(resource: string, record: SinkRecord): Promise<void> {
    if (!this.#existing.has(resource)) {
      await this.#ensureExists(resource)
      this.#existing.add(resource)
    }
    const isDelete = record.value === null || record.value === undefined
    if (isDelete || this.#mapped.has(resource) || this.#settings.ignoresSchema(record.topic)) return
    await this.#ensureMapping(resource, record)
    this.#mapped.add(resource)
  }

  /** To be called when the server reports that a resource does not exist. */
  forget(resource: string): void {
    this.#existing.delete(resource)
    this.#mapped.delete(resource)
  }

  async #ensureExists(resource: string): Promise<void> {
    const { createsResources, isDataStream, templateOf } = this.#settings
    const path = pathOf(resource)
    const isMissing = (await this.#send({ method: 'HEAD', path }, [404])).status === 404
    if (!isMissing) return
    if (!createsResources) throw new Error(`the index, data stream or alias '${resource}' does not exist: create it`)
    const template = isDataStream ? templateOf?.(resource) : undefined
    if (template !== undefined) await this.#createTemplate(resource, template)
    await this.#create({ method: 'PUT', path: isDataStream ? `/_data_stream${path}` : path })
  }

  async #createTemplate(
    resource: string,
    { name, timestampField }: { readonly name: string; readonly timestampField: string },
  ): Promise<void> {
    const path = `/_index_template${pathOf(name)}`
    if ((await this.#send({ method: 'HEAD', path }, [404])).status !== 404) return
    // Elasticsearch knows no other field than the default.
    const stream = timestampField === '@timestamp' ? {} : { timestamp_field: { name: timestampField } }
    const template = { index_patterns: [resource], priority: TEMPLATE_PRIORITY, data_stream: stream }
    await this.#create({ method: 'PUT', path, body: JSON.stringify(template) })
  }

  /** Another task may create the same at the same time. */
  async #create(request: SearchServerRequest): Promise<void> {
    const response = await this.#send(request, [400])
    if (response.status === 400 && !response.body.includes('resource_already_exists_exception')) {
      throw new DataError(describeFailure(request, response))
    }
  }

  async #ensureMapping(resource: string, { valueSchema }: SinkRecord): Promise<void> {
    if (valueSchema === null) {
      throw new DataError(
        'the value has no schema to create a mapping from: set schema.ignore=true, or use a converter with schemas',
      )
    }
    const path = `${pathOf(resource)}/_mapping`
    const mapping = indexMapping(valueSchema)
    if (!this.#settings.isDataStream && hasFields(await this.#send({ method: 'GET', path }))) return
    const request: SearchServerRequest = { method: 'PUT', path, body: JSON.stringify(mapping) }
    const response = await this.#send(request, [400])
    if (response.status === 400) throw new DataError(describeFailure(request, response))
  }

  /** Rejects for all statuses but success and those that are expected. */
  async #send(request: SearchServerRequest, expected: readonly number[] = []): Promise<TransportResponse> {
    const response = await this.#server.send(request).catch((error: unknown) => {
      if (error instanceof NoResponseError) throw new RetriableError(error.message, { cause: error })
      throw error
    })
    const { status } = response
    if ((status >= 200 && status < 300) || expected.includes(status)) return response
    if (isRetriable(status)) throw new RetriableError(describeFailure(request, response))
    const advice = adviceOnStatus(status)
    throw new Error(`${describeFailure(request, response)}${advice === undefined ? '' : `: ${advice}`}`)
  }
}

/** Above that of the templates that servers have for `logs-*-*` and `metrics-*-*`. */
const TEMPLATE_PRIORITY = 200

function pathOf(name: string): string {
  return `/${encodeURIComponent(name)}`
}

/** Whether a response of `_mapping` has a mapping with fields. */
function hasFields({ body }: TransportResponse): boolean {
  const indices = Object.values(JSON.parse(body.toString()) as Readonly<Record<string, { readonly mappings?: object }>>)
  return indices.some(({ mappings }) => mappings !== undefined && Object.keys(mappings).length > 0)
}
