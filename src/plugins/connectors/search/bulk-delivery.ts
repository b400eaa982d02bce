import {
  DataError,
  RetriableError,
  type SinkContext,
  type SinkPartition,
  type SinkRecord,
  type SinkTask,
} from '../../../sdk/index.ts'
import { deliverLanes } from '../http/lanes.ts'
import { parseStatuses, RETRIED_STATUSES } from '../http/retriable-status.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import { RetryLimit } from '../http/retry-limit.ts'
import { SettledRecords } from '../http/settled-records.ts'
import { NoResponseError, ResponseTooLargeError, type TransportResponse } from '../http/transport.ts'
import { toBulks, toLanes } from './bulk-requests.ts'
import { type DocumentOutcome, readBulkResponse } from './bulk-response.ts'
import { type DocumentOperation, OperationFactory } from './document-operation.ts'
import { adviceOnStatus, describeFailure, type SearchServer, type SearchServerRequest } from './search-server.ts'
import type { Handling, SearchSinkSettings } from './search-sink-settings.ts'
import { TargetResources } from './target-resources.ts'

export type BulkDeliveryOptions = Pick<SinkContext<unknown>, 'log' | 'signal' | 'reject'> & {
  readonly settings: SearchSinkSettings
  readonly server: SearchServer
  readonly random?: () => number
}

const isRetriable = parseStatuses(RETRIED_STATUSES)
/** Only what is read of the response. */
const BULK_PATH = '/_bulk?filter_path=items.*.status,items.*.error'

/**
 * Writes records as documents. Documents are distributed to lanes by their ids; the bulk requests of a lane are sequential, so
 * the operations of a document stay in order. For retries the runtime puts the batch again; records of it that are settled are
 * not sent twice.
 */
export class BulkDelivery implements SinkTask {
  /** The next records are read and converted while requests are in flight. */
  readonly readsAhead = true
  readonly #options: BulkDeliveryOptions
  readonly #operations: OperationFactory
  readonly #resources: TargetResources
  readonly #settled = new SettledRecords()
  readonly #retries: RetryLimit

  constructor(options: BulkDeliveryOptions) {
    this.#options = options
    this.#operations = new OperationFactory(options.settings)
    this.#resources = new TargetResources(options.server, options.settings)
    this.#retries = new RetryLimit(options.settings.retry, options.random)
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    const { settings, signal } = this.#options
    const before = this.#settled.count
    const errors: Error[] = []
    try {
      const operations = await this.#toOperations(records.filter((record) => !this.#settled.has(record)))
      const lanes = toLanes(operations, settings)
      const bulksOf = (lane: readonly DocumentOperation[]) => toBulks(lane, settings.batch)
      errors.push(...(await deliverLanes(lanes, bulksOf, (bulk) => this.#deliver(bulk))))
    } catch (error) {
      errors.push(error as Error)
    }
    if (this.#settled.count > before) this.#retries.reset()
    if (errors.length > 0) {
      // Stopped during a request: these records are sent again later, and the settled ones can be committed.
      if (signal.aborted) throw new RetriableError('the task is stopped', { cause: errors[0] })
      this.#retries.throwErrors(errors, { isStopped: false })
    }
    this.#settled.clear()
  }

  close(partitions: readonly SinkPartition[]): void {
    this.#settled.removePartitions(partitions)
  }

  stop(): void {
    this.#options.server.close()
  }

  async #toOperations(records: readonly SinkRecord[]): Promise<readonly DocumentOperation[]> {
    const operations: DocumentOperation[] = []
    for (const record of records) {
      const operation = await this.#toOperation(record)
      if (operation === undefined) this.#settled.add([record])
      else operations.push(operation)
    }
    return operations
  }

  /** Undefined for a record that is left out. */
  async #toOperation(record: SinkRecord): Promise<DocumentOperation | undefined> {
    const { settings } = this.#options
    const isNull = record.value === null || record.value === undefined
    if (isNull && settings.onNull === 'ignore') return undefined
    const resource = settings.resourceOf(record.topic)
    try {
      if (isNull && settings.onNull === 'invalid')
        throw new DataError('the record has no value (behavior.on.null.values)')
      await this.#resources.prepare(resource, record)
      return this.#operations.convert(record, resource)
    } catch (error) {
      // Match the code: a process may contain two copies of the SDK.
      if ((error as { readonly code?: unknown }).code !== 'data') throw error
      await this.#handle(settings.onInvalid, record, error as Error)
      return undefined
    }
  }

  async #deliver(bulk: readonly DocumentOperation[]): Promise<void> {
    const request: SearchServerRequest = {
      method: 'POST',
      path: BULK_PATH,
      body: bulk.map(({ text }) => text).join(''),
      contentType: 'application/x-ndjson',
    }
    const response = await this.#send(request)
    if (response === undefined) return this.#bisect(bulk, 'the response is larger than 64 MB')
    const { status, headers } = response
    if (status >= 200 && status < 300) return this.#settle(bulk, this.#read(response, bulk))
    if (isRetriable(status)) {
      const waitMs = retryAfterMs(headers, Date.now())
      throw new RetriableError(describeFailure(request, response), waitMs === undefined ? {} : { retryAfterMs: waitMs })
    }
    const advice = adviceOnStatus(status)
    if (advice !== undefined) throw new Error(`${describeFailure(request, response)}: ${advice}`)
    // 413: too large. 400: the server does not accept the request because of one of its documents.
    await this.#bisect(bulk, describeFailure(request, response))
  }

  /** Undefined if the response is too large. */
  async #send(request: SearchServerRequest): Promise<TransportResponse | undefined> {
    try {
      return await this.#options.server.send(request)
    } catch (error) {
      if (error instanceof ResponseTooLargeError) return undefined
      if (error instanceof NoResponseError) throw new RetriableError(error.message, { cause: error })
      throw error
    }
  }

  #read({ body }: TransportResponse, bulk: readonly DocumentOperation[]): readonly DocumentOutcome[] {
    try {
      return readBulkResponse(body, bulk)
    } catch (error) {
      throw new RetriableError(`POST /_bulk: ${(error as Error).message}`, { cause: error })
    }
  }

  /** Halves a request until the documents that it is rejected for are found. */
  async #bisect(bulk: readonly DocumentOperation[], reason: string): Promise<void> {
    if (bulk.length === 1) return this.#settle(bulk, [{ kind: 'malformed', reason }])
    const half = Math.ceil(bulk.length / 2)
    await this.#deliver(bulk.slice(0, half))
    await this.#deliver(bulk.slice(half))
  }

  /** Throws a `RetriableError` if documents must be sent again. */
  async #settle(bulk: readonly DocumentOperation[], outcomes: readonly DocumentOutcome[]): Promise<void> {
    const { settings } = this.#options
    const retried: string[] = []
    for (const [at, { kind, reason }] of outcomes.entries()) {
      const { record, resource } = bulk[at]!
      const error = new Error(`the server rejected the document for ${resource}: ${reason}`)
      switch (kind) {
        case 'forbidden':
          throw new Error(`${error.message}: ${adviceOnStatus(403)}`)
        case 'missing':
          this.#resources.forget(resource)
          retried.push(reason)
          continue
        case 'retriable':
          retried.push(reason)
          continue
        case 'malformed':
          await this.#handle(settings.onMalformed, record, error)
          break
        case 'superseded':
          await this.#handle(settings.onSuperseded, record, error)
          break
        case 'stored':
      }
      this.#settled.add([record])
    }
    if (retried.length > 0) {
      throw new RetriableError(
        `POST /_bulk: ${retried.length} of ${bulk.length} documents were not accepted: ${retried[0]}`,
      )
    }
  }

  async #handle(handling: Handling, record: SinkRecord, error: Error): Promise<void> {
    const { reject, log } = this.#options
    if (handling === 'reject') return reject(record, error)
    if (handling === 'warn') log.warn({ err: error, ...record.origin }, 'ignored a record that is not stored')
  }
}
