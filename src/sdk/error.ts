/**
 * A failure that may heal: the runtime tries the same step again, within `errors.retry.timeout`; `poll` and `put` until
 * they succeed.
 * Match `error.code === 'retriable'`, never `instanceof`: two copies of the SDK can meet in one process.
 */
export class RetriableError extends Error {
  readonly code = 'retriable'
  override readonly name = 'RetriableError'
  /** How long `poll` and `put` are not to be called, where the plugin knows; otherwise the runtime decides. */
  readonly retryAfterMs: number | undefined
  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Data that does not fit its schema or its format. Tolerated or dead-lettered record by record. */
export class DataError extends Error {
  readonly code = 'data'
  override readonly name = 'DataError'
}

/** One configuration key with what is wrong about it. `message` is a whole sentence that names key and value. */
export type ConfigProblem = { readonly key: string; readonly message: string }

/** A configuration that does not fit its plugin; all that is wrong at once. */
export class ConfigError extends Error {
  readonly code = 'config'
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ message }) => message).join('\n'))
    this.problems = problems
  }
}
