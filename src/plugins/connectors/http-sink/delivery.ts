import {
  RetriableError,
  retryDelayMs,
  type SinkContext,
  type SinkPartition,
  type SinkPosition,
  type SinkRecord,
  type SinkTask,
} from '../../../sdk/index.ts'
import type { Connection } from '../http/connection.ts'
import { retryAfterMs } from '../http/retry-after.ts'
import { adviceOn, classifyStatus } from '../http/status-class.ts'
import {
  describeRequest,
  NoResponseError,
  ResponseTooLargeError,
  responseExcerpt,
  type TransportResponse,
} from '../http/transport.ts'
import { laneOf, type RenderedRecord, recordRenderer, toBatches, toBody } from './rendered-record.ts'
import type { HttpSinkSettings } from './settings.ts'

/** Of an answer, more is not kept. */
export const RESPONSE_BYTES_MAX = 16 * 1024
/** The longest pause between two tries that the server did not ask for. */
export const BACKOFF_MS_MAX = 60_000

export type HttpDeliveryOptions = Pick<SinkContext<unknown>, 'log' | 'signal' | 'reject'> & {
  readonly settings: HttpSinkSettings
  readonly connection: Connection
  readonly random?: () => number
}

/**
 * Brings records to a server. Records wait in lanes: within a lane one request follows the other, so that none of a key
 * overtakes another one. What the server takes later is left to the runtime, which puts the batch again; what was taken of
 * it by then is not sent twice.
 */
export class HttpDelivery implements SinkTask {
  readonly #parts: HttpDeliveryOptions
  readonly #write: (record: SinkRecord) => RenderedRecord
  /** Taken, refused or left out: what of a batch that comes again is done with. */
  readonly #settled = new Set<string>()
  /** How often in a row nothing of a batch was taken. */
  #failures = 0

  constructor(parts: HttpDeliveryOptions) {
    this.#parts = parts
    this.#write = recordRenderer(parts.settings)
  }

  async put(records: readonly SinkRecord[]): Promise<void> {
    const before = this.#settled.size
    const lanes = await this.#lanes(records.filter((record) => !this.#settled.has(placeIn(record.origin))))
    const run = { isOver: false }
    const outcomes = await Promise.allSettled(lanes.map((letters) => this.#deliverInTurn(letters, run)))
    if (this.#settled.size > before) this.#failures = 0
    const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as Error] : []))
    if (errors.length > 0) this.#giveBack(errors)
    this.#settled.clear()
  }

  /** Whoever gets these partitions next gets what was not committed of them in whole. */
  close(partitions: readonly SinkPartition[]): void {
    const gone = partitions.map(({ topic, partition }) => `${topic}/${partition}/`)
    for (const place of this.#settled) if (gone.some((start) => place.startsWith(start))) this.#settled.delete(place)
  }

  stop(): void {
    this.#parts.connection.close()
  }

  async #lanes(records: readonly SinkRecord[]): Promise<readonly (readonly RenderedRecord[])[]> {
    const { requestsMax } = this.#parts.settings
    const lanes = Array.from({ length: requestsMax }, (): RenderedRecord[] => [])
    for (const record of records) {
      const letter = await this.#letter(record)
      if (letter !== undefined) lanes[laneOf(record, requestsMax)]!.push(letter)
    }
    return lanes.filter((lane) => lane.length > 0)
  }

  /** Undefined for what is not sent at all. */
  async #letter(record: SinkRecord): Promise<RenderedRecord | undefined> {
    const { log, settings } = this.#parts
    if ((record.value === null || record.value === undefined) && settings.onNull !== 'delete') {
      if (settings.onNull === 'fail') await this.#refuse(record, new Error('the record has no value'))
      if (settings.onNull === 'log') log.warn(record.origin, 'a record without a value is left out')
      this.#settle([record])
      return undefined
    }
    try {
      return this.#write(record)
    } catch (error) {
      await this.#refuse(record, error as Error)
      return undefined
    }
  }

  /** What fails one lane for good ends the others behind the requests that are on their way. */
  async #deliverInTurn(letters: readonly RenderedRecord[], run: { isOver: boolean }): Promise<void> {
    try {
      for (const batch of toBatches(letters, this.#parts.settings.batch.recordsMax)) {
        if (run.isOver) return
        await this.#deliver(batch)
      }
    } catch (error) {
      if (!(error instanceof RetriableError)) run.isOver = true
      throw error
    }
  }

  async #deliver(batch: readonly RenderedRecord[]): Promise<void> {
    const { settings } = this.#parts
    const answer = await this.#ask(batch).catch((error: unknown) => this.#unanswered(error))
    const { status, headers } = answer
    const place = describeRequest(batch[0]!)
    switch (classifyStatus(status, settings.retry.statuses)) {
      case 'taken':
        return this.#settle(batch.map(({ record }) => record))
      case 'later': {
        const waitMs = retryAfterMs(headers, Date.now())
        throw new RetriableError(
          `${place}: the server answered ${status}${responseExcerpt(answer)}`,
          waitMs === undefined ? {} : { retryAfterMs: waitMs },
        )
      }
      case 'refused':
        return this.#narrow(
          batch,
          new Error(`${place}: the server refused it with ${status}${responseExcerpt(answer)}`),
        )
      case 'wrong':
        throw new Error(`${place}: the server answered ${status}: ${adviceOn(status, headers.location)}`)
    }
  }

  #ask(batch: readonly RenderedRecord[]): Promise<TransportResponse> {
    const { settings, connection, signal } = this.#parts
    const { method, url, headers } = batch[0]!
    const body = toBody(batch, settings.batch)
    return connection.send({ method, url, headers, ...(body !== undefined && { body }), signal })
  }

  #unanswered(error: unknown): never {
    // Stopped amid a request: the records come again, and what was taken before is to be committed.
    if (this.#parts.signal.aborted) throw new RetriableError('the task is stopped', { cause: error })
    if (error instanceof NoResponseError || error instanceof ResponseTooLargeError) {
      throw new RetriableError(error.message, { cause: error })
    }
    throw error
  }

  /** Halves what was refused as a whole until single records are left: those were meant. */
  async #narrow(batch: readonly RenderedRecord[], refusal: Error): Promise<void> {
    const [first, ...others] = batch
    if (others.length === 0) return this.#refuse(first!.record, refusal)
    const half = Math.ceil(batch.length / 2)
    await this.#deliver(batch.slice(0, half))
    await this.#deliver(batch.slice(half))
  }

  async #refuse(record: SinkRecord, error: Error): Promise<void> {
    const { settings, reject, log } = this.#parts
    if (settings.onRefused === 'fail') await reject(record, error)
    if (settings.onRefused === 'log') log.warn({ err: error, ...record.origin }, 'a record is left out')
    this.#settle([record])
  }

  #settle(records: readonly SinkRecord[]): void {
    for (const { origin } of records) this.#settled.add(placeIn(origin))
  }

  /** Throws what the runtime is to do: fail, or come again. */
  #giveBack(errors: readonly Error[]): never {
    const { retry } = this.#parts.settings
    const fatal = errors.find((error) => !(error instanceof RetriableError))
    if (fatal !== undefined) throw fatal
    const waits = (errors as readonly RetriableError[]).map((error) => error.retryAfterMs ?? 0)
    const first = errors[0]!
    if (this.#failures >= retry.max && !this.#parts.signal.aborted) {
      throw new Error(
        `${first.message}; gave up after ${this.#failures} retries (max.retries). No record is lost: ` +
          'restart the task when the server is well',
        { cause: first },
      )
    }
    const waitMs = Math.max(retryDelayMs(retry.backoff, this.#failures++, this.#parts.random), ...waits)
    throw new RetriableError(first.message, { cause: first, retryAfterMs: waitMs })
  }
}

/** No name of a topic has a slash. */
function placeIn({ topic, partition, offset }: SinkPosition): string {
  return `${topic}/${partition}/${offset}`
}
