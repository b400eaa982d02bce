/**
 * A transient failure: the runtime retries the operation within `errors.retry.timeout`, and `poll` and `put` without a limit.
 * Match `error.code === 'retriable'`, never `instanceof`: a process may contain two copies of the SDK.
 */
export class RetriableError extends Error {
  readonly code = 'retriable'
  override readonly name = 'RetriableError'
  /** Delay before the next call of `poll` or `put`, in ms; undefined: the runtime decides. */
  readonly retryAfterMs: number | undefined
  constructor(message: string, options: ErrorOptions & { readonly retryAfterMs?: number } = {}) {
    super(message, options)
    this.retryAfterMs = options.retryAfterMs
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
