import {
  RetriableError,
  type SinkContext,
  type SinkPartition,
  type SinkRecord,
  type SinkTask,
} from '../../../sdk/index.ts'
import type { Connection } from '../http/connection.ts'
import { deliverLanes } from '../http/lanes.ts'
import { adviceOn, classifyStatus } from '../http/retriable-status.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import { RetryLimit } from '../http/retry-limit.ts'
import { SettledRecords } from '../http/settled-records.ts'
import {
  describeRequest,
  NoResponseError,
  ResponseTooLargeError,
  responseExcerpt,
  type TransportResponse,
} from '../http/transport.ts'
import { laneOf, type RenderedRecord, recordRenderer, toBatches, toBody } from './rendered-record.ts'
import type { Reporter } from './reporter.ts'
import type { HttpSinkSettings } from './settings.ts'

/** Maximum size of a response that is kept, for error messages. */
export const RESPONSE_BYTES_MAX = 16 * 1024
/** Maximum delay between attempts, unless the server requests a longer one. */
export const BACKOFF_MS_MAX = 60_000

export type HttpDeliveryOptions = Pick<SinkContext<unknown>, 'log' | 'signal' | 'reject'> & {
  readonly settings: HttpSinkSettings
  readonly connection: Connection
  /** Absent: what happened to records is not reported. */
  readonly reporter?: Reporter
  readonly random?: () => number
}

/**
 * Sends records to a server. Records are distributed to lanes by key; the requests of a lane are sequential, so records with
 * the same key stay in order. For retries the runtime puts the batch again; records of it that are settled are not sent
 * twice.
 */
export class HttpDelivery implements SinkTask {
  readonly #options: HttpDeliveryOptions
  readonly #renderRecord: (record: SinkRecord) => RenderedRecord
  readonly #settled = new SettledRecords()
  readonly #retries: RetryLimit
  /** Reports of the current batch, which may not be stored yet. */
  #reports: Promise<void>[] = []

  constructor(options: HttpDeliveryOptions) {
    this.#options = options
    this.#renderRecord = recordRenderer(options.settings)
    this.#retries = new RetryLimit(options.settings.retry, options.random)
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    const before = this.#settled.count
    const lanes = await this.#toLanes(records.filter((record) => !this.#settled.has(record)))
    const batchesOf = (lane: readonly RenderedRecord[]) => toBatches(lane, this.#options.settings.batch.recordsMax)
    const errors = await deliverLanes(lanes, batchesOf, (batch) => this.#deliver(batch))
    await this.#awaitReports()
    if (this.#settled.count > before) this.#retries.reset()
    if (errors.length > 0) this.#retries.throwErrors(errors, { isStopped: this.#options.signal.aborted })
    this.#settled.clear()
  }

  close(partitions: readonly SinkPartition[]): void {
    this.#settled.removePartitions(partitions)
  }

  stop(): void {
    this.#options.connection.close()
  }

  /**
   * Awaited before offsets can be committed. A failure is permanent even if its cause could be retried: the records are
   * settled by then, so a retry would leave them out, and their reports with them.
   */
  async #awaitReports(): Promise<void> {
    const reports = this.#reports
    this.#reports = []
    try {
      await Promise.all(reports)
    } catch (error) {
      throw new Error(`a report could not be stored: ${(error as Error).message}`, { cause: error })
    }
  }

  #report(report: Promise<void> | undefined): void {
    if (report === undefined) return
    // A failure is thrown by `#awaitReports`; until then nobody handles it.
    report.catch(() => undefined)
    this.#reports.push(report)
  }

  async #toLanes(records: readonly SinkRecord[]): Promise<readonly (readonly RenderedRecord[])[]> {
    const { requestsMax } = this.#options.settings
    const lanes = Array.from({ length: requestsMax }, (): RenderedRecord[] => [])
    for (const record of records) {
      const rendered = await this.#render(record)
      if (rendered !== undefined) lanes[laneOf(record, requestsMax)]!.push(rendered)
    }
    return lanes.filter((lane) => lane.length > 0)
  }

  /** Undefined for records that are not sent. */
  async #render(record: SinkRecord): Promise<RenderedRecord | undefined> {
    const { log, settings } = this.#options
    if ((record.value === null || record.value === undefined) && settings.onNull !== 'delete') {
      if (settings.onNull === 'fail') await this.#reject(record, new Error('the record has no value'))
      if (settings.onNull === 'log') log.warn(record.origin, 'ignored a record without a value')
      this.#settled.add([record])
      return undefined
    }
    try {
      return this.#renderRecord(record)
    } catch (error) {
      await this.#reject(record, error as Error)
      return undefined
    }
  }

  async #deliver(batch: readonly RenderedRecord[]): Promise<void> {
    const { settings } = this.#options
    const response = await this.#send(batch).catch((error: unknown) => this.#toRetriable(error))
    const { status, headers } = response
    const request = describeRequest(batch[0]!)
    switch (classifyStatus(status, settings.retry.statuses)) {
      case 'success':
        return this.#settleDelivered(
          batch.map(({ record }) => record),
          response.body,
        )
      case 'retriable': {
        const waitMs = retryAfterMs(headers, Date.now())
        throw new RetriableError(
          `${request}: the server responded with ${status}${responseExcerpt(response)}`,
          waitMs === undefined ? {} : { retryAfterMs: waitMs },
        )
      }
      case 'rejected':
        return this.#bisect(
          batch,
          new Error(`${request}: the server rejected the request with ${status}${responseExcerpt(response)}`),
          response.body,
        )
      case 'fatal':
        throw new Error(`${request}: the server responded with ${status}: ${adviceOn(status, headers.location)}`)
    }
  }

  #send(batch: readonly RenderedRecord[]): Promise<TransportResponse> {
    const { settings, connection, signal } = this.#options
    const { method, url, headers } = batch[0]!
    const body = toBody(batch, settings.batch)
    return connection.send({ method, url, headers, ...(body !== undefined && { body }), signal })
  }

  #toRetriable(error: unknown): never {
    // Stopped during a request: these records are sent again later, and the settled ones can be committed.
    if (this.#options.signal.aborted) throw new RetriableError('the task is stopped', { cause: error })
    if (error instanceof NoResponseError || error instanceof ResponseTooLargeError) {
      throw new RetriableError(error.message, { cause: error })
    }
    throw error
  }

  /** Halves a rejected batch until the rejected records are found. */
  async #bisect(batch: readonly RenderedRecord[], refusal: Error, response: Buffer): Promise<void> {
    const [first, ...others] = batch
    if (others.length === 0) return this.#reject(first!.record, refusal, response)
    const half = Math.ceil(batch.length / 2)
    await this.#deliver(batch.slice(0, half))
    await this.#deliver(batch.slice(half))
  }

  async #reject(record: SinkRecord, error: Error, response?: Buffer): Promise<void> {
    const { settings, reject, log, reporter } = this.#options
    this.#report(reporter?.rejected(record, { error, response }))
    if (settings.onRejected === 'fail') await reject(record, error)
    if (settings.onRejected === 'log') log.warn({ err: error, ...record.origin }, 'ignored a record that was rejected')
    this.#settled.add([record])
  }

  #settleDelivered(records: readonly SinkRecord[], response: Buffer): void {
    this.#report(this.#options.reporter?.delivered(records, response))
    this.#settled.add(records)
  }
}
