import type { RetryDelays } from '../../../sdk/index.ts'
import type { StatusSet } from '../http/retriable-status.ts'

/** Settings of an HTTP sink, independent of the connector whose configuration keys are used. */
export type HttpSinkSettings = {
  /** May contain placeholders, as may header values. */
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** `string`: like Java's `String.valueOf`; `json`: JSON; `auto`: strings unchanged, all other values as JSON. */
  readonly format: 'string' | 'json' | 'auto'
  /** Applied to the text of each record. */
  readonly rewrite: (text: string) => string
  readonly batch: BatchSettings
  /** How records without a value are handled. */
  readonly onNull: 'ignore' | 'log' | 'fail' | 'delete'
  /** How records that the server rejects are handled. `fail` applies `errors.tolerance`. */
  readonly onRejected: 'fail' | 'log' | 'ignore'
  readonly retry: { readonly statuses: StatusSet; readonly max: number; readonly backoff: RetryDelays }
  /** Maximum number of concurrent requests. */
  readonly requestsMax: number
}

export type BatchSettings = {
  readonly recordsMax: number
  /** Template; records are batched together only if it yields the same text for them. */
  readonly keyPattern: string
  readonly prefix: string
  readonly suffix: string
  readonly separator: string
}
