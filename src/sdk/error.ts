/**
 * A failure that may heal: the runtime tries the same step again, within `errors.retry.timeout`.
 * Match `error.code === 'retriable'`, never `instanceof`: two copies of the SDK can meet in one process.
 */
export class RetriableError extends Error {
  readonly code = 'retriable'
  override readonly name = 'RetriableError'
}

/** Data that does not fit its schema or its format. Tolerated or dead-lettered record by record. */
export class DataError extends Error {
  readonly code = 'data'
  override readonly name = 'DataError'
}
