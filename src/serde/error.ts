import { RequestError } from '../clients/http.ts'
import { UserError } from '../config/errors.ts'
import { SchemaError } from '../formats/format.ts'

/**
 * `not_framed`: the bytes do not begin as Confluent's wire format does. `invalid_schema`: a schema can't be read.
 * `invalid_data`: a value or its bytes do not fit the schema. `wrong_format`: the schema of an id is of another format.
 * `incompatible`: the subject's latest schema can't stand for ours. `nameless`: the subject is named after the schema, which
 * has no name. `rule_failed`: a rule of the schema could not be executed, for instance because its key cannot be had.
 * `no_topic`: a rule needs the subject, which is named after a topic that was not given. `refused`: the registry said no.
 * `unavailable`: the same may work later.
 */
export type SerdeErrorCode =
  | 'not_framed'
  | 'invalid_schema'
  | 'invalid_data'
  | 'wrong_format'
  | 'incompatible'
  | 'nameless'
  | 'rule_failed'
  | 'no_topic'
  | 'refused'
  | 'unavailable'

/** Match `error.code`, never `instanceof`: a process may contain two copies of this library. */
export class SerdeError extends UserError<SerdeErrorCode> {
  constructor(code: SerdeErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options)
    this.name = 'SerdeError'
  }
}

/** Runs what may find a schema or data wrong. */
export function checked<Result>(code: 'invalid_schema' | 'invalid_data', run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof SchemaError) throw new SerdeError(code, error.message, { cause: error })
    throw error
  }
}

/** Asks the registry, about `what`. */
export async function asked<Result>(what: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    throw new SerdeError(error.retriable ? 'unavailable' : 'refused', `${what}: ${error.message}`, { cause: error })
  }
}
