import type { RetryDelays } from '../../../sdk/index.ts'
import type { StatusSet } from '../http/status-class.ts'

/** What an HTTP sink does, whosever keys said so. */
export type HttpSinkSettings = {
  /** May hold placeholders, and so may values of headers. */
  readonly url: string
  readonly method: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** `string`: as Java's `String.valueOf`; `json`: JSON; `auto`: texts as they are and JSON of everything else. */
  readonly format: 'string' | 'json' | 'auto'
  /** Done to each record's text. */
  readonly rewrite: (text: string) => string
  readonly batch: BatchSettings
  /** Of records without a value. */
  readonly onNull: 'ignore' | 'log' | 'fail' | 'delete'
  /** Of records that the server does not take: `fail` leaves it to `errors.tolerance`. */
  readonly onRefused: 'fail' | 'log' | 'ignore'
  readonly retry: { readonly statuses: StatusSet; readonly max: number; readonly backoff: RetryDelays }
  /** How many requests may be on their way at once. */
  readonly requestsMax: number
}

export type BatchSettings = {
  readonly recordsMax: number
  /** Only records for which this says the same go together. */
  readonly keyPattern: string
  readonly prefix: string
  readonly suffix: string
  readonly separator: string
}
