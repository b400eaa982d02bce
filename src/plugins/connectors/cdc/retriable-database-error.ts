import { field, RetriableError } from '../../../sdk/index.ts'
import { DatabaseError } from '../jdbc/database-error.ts'

const group = 'Failures'

/** Keys of retries, as those of Debezium. */
export const retryKeys = {
  'errors.max.retries': field
    .int({
      doc:
        'Retries in succession after errors that may pass, such as a server that is not available; then the task fails. 0: it fails at once. ' +
        '-1: no limit; the status of the task says meanwhile why it retries.',
      importance: 'LOW',
      min: -1,
      group,
    })
    .default(-1),
  'retriable.restart.connector.wait.ms': field
    .long({
      doc: 'Delay before each retry, in ms. Default: 300 ms, doubled for each retry up to `errors.retry.delay.max.ms`.',
      importance: 'LOW',
      min: 0,
      group,
    })
    .optional(),
}

type RetryConfig = {
  readonly 'errors.max.retries': number
  readonly 'retriable.restart.connector.wait.ms'?: number | undefined
}

/** An error after which the task is retried, if it is a transient one of the database; otherwise the same error. */
export function asRetriableError(error: unknown, config: RetryConfig): unknown {
  if (!(error instanceof DatabaseError) || !error.isTransient) return error
  const { 'errors.max.retries': retriesMax, 'retriable.restart.connector.wait.ms': retryAfterMs } = config
  return new RetriableError(error.message, {
    cause: error,
    retryAfterMs,
    retriesMax: retriesMax < 0 ? undefined : retriesMax,
  })
}
