import { STATUS_CODES } from 'node:http'

/** The edge's own answer to a request that reached no handler, worded as both originals (Jersey) word it. */
export class HttpError extends Error {
  readonly status: number

  constructor(status: number, message = `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim()) {
    super(message)
    this.name = 'Refusal'
    this.status = status
  }
}

/** An answer in the wire's error envelope; both originals use these two members and no other. */
export type ErrorResponse = {
  readonly status: number
  readonly body: { readonly error_code: number; readonly message: string }
}

/** Every error that has no code of the program's own: refusals keep their status, anything else is a 500. */
export function toErrorResponse(error: unknown): ErrorResponse {
  const refusal = asRefusal(error)
  if (refusal) return { status: refusal.status, body: { error_code: refusal.status, message: refusal.message } }
  // The cause goes to the log only.
  return { status: 500, body: { error_code: 500, message: 'Internal server error' } }
}

function asRefusal(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  const status = Number(error.statusCode)
  if (!(status >= 400 && status < 500)) return undefined
  // Fastify's own: 415 and 404 in Jersey's words; a body that is no JSON says what is wrong with it.
  return status === 400 || status === 413 ? new HttpError(status, error.message) : new HttpError(status)
}
