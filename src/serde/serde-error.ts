import { RequestError } from '../clients/http-client.ts'
import { UserError } from '../common/errors.ts'
import { SchemaError } from '../formats/schema-error.ts'

/**
 * - `not_framed`: the bytes are not in Confluent's wire format.
 * - `invalid_schema`: a schema cannot be parsed.
 * - `invalid_data`: a value or its bytes do not match the schema.
 * - `wrong_format`: the schema with the given id has another format.
 * - `incompatible`: the schema chosen by the policy is not compatible with the given one.
 * - `nameless`: the subject is derived from the name of the schema, which has none.
 * - `rule_failed`: a rule of the schema could not be executed, for example because its key is unavailable.
 * - `no_topic`: a rule needs the subject, which is derived from a topic that was not given.
 * - `refused`: the registry rejected the request.
 * - `unavailable`: a retry may succeed.
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

/** Compare `error.code` instead of using `instanceof`: a process may contain two copies of this library. */
export class SerdeError extends UserError<SerdeErrorCode> {
  constructor(code: SerdeErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options)
    this.name = 'SerdeError'
  }
}

/** Converts a `SchemaError` of `run` to a `SerdeError` with this code. */
export function wrapSchemaErrors<Result>(code: 'invalid_schema' | 'invalid_data', run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (error instanceof SchemaError) throw new SerdeError(code, error.message, { cause: error })
    throw error
  }
}

/** Converts a failed registry request to a `SerdeError`. `what` is the start of the error message. */
export async function wrapRequestErrors<Result>(what: string, request: () => Promise<Result>): Promise<Result> {
  try {
    return await request()
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    throw new SerdeError(error.retriable ? 'unavailable' : 'refused', `${what}: ${error.message}`, { cause: error })
  }
}
