/**
 * A transient failure: the runtime retries the operation within `errors.retry.timeout`, and `poll` and `put` without a limit
 * unless the error has one. While `poll` is retried, the status of the task contains the error.
 * Match `error.code === 'retriable'`, never `instanceof`: a process may contain two copies of the SDK.
 */
export class RetriableError extends Error {
  readonly code = 'retriable'
  override readonly name = 'RetriableError'
  /** Delay before the next call of `poll` or `put`, in ms; undefined: the runtime decides. */
  readonly retryAfterMs: number | undefined
  /** Failures of `poll` in succession after which the task fails with this error; undefined: it is always called again. */
  readonly retriesMax: number | undefined
  constructor(
    message: string,
    options: ErrorOptions & {
      readonly retryAfterMs?: number | undefined
      readonly retriesMax?: number | undefined
    } = {},
  ) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
    this.retriesMax = options.retriesMax
  }
}

/** Data that does not match its schema or format. Handled per record according to `errors.tolerance`. */
export class DataError extends Error {
  readonly code = 'data'
  override readonly name = 'DataError'
}

/** A problem of a configuration key. `message` is a complete sentence that names key and value. */
export type ConfigProblem = { readonly key: string; readonly message: string }

/** An invalid configuration, with all of its problems. */
export class ConfigError extends Error {
  readonly code = 'config'
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ message }) => message).join('\n'))
    this.problems = problems
  }
}
