import { STATUS_CODES } from 'node:http'

/** An error with an HTTP status, worded like those of both originals (Jersey). */
export class HttpError extends Error {
  readonly status: number

  constructor(status: number, message = `HTTP ${status} ${STATUS_CODES[status] ?? ''}`.trim()) {
    super(message)
    this.name = 'Refusal'
    this.status = status
  }
}

/** The numbers with which an error is returned: the HTTP status, and `error_code` of the body. */
export type ErrorWire = { readonly status: number; readonly errorCode: number }

/** A response in the error format of both originals, which has these two members only. */
export type ErrorResponse = {
  readonly status: number
  readonly body: { readonly error_code: number; readonly message: string }
}

/** Maps errors without a code of the program: an `HttpError` keeps its status, any other error is a 500. */
export function toErrorResponse(error: unknown): ErrorResponse {
  const httpError = toHttpError(error)
  if (httpError) return { status: httpError.status, body: { error_code: httpError.status, message: httpError.message } }
  // The cause is logged only.
  return { status: 500, body: { error_code: 500, message: 'Internal server error' } }
}

function toHttpError(error: unknown): HttpError | undefined {
  if (error instanceof HttpError) return error
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  const status = Number(error.statusCode)
  if (!(status >= 400 && status < 500)) return undefined
  // Fastify's errors: 415 and 404 in the words of Jersey; for an invalid body, the reason.
  return status === 400 || status === 413 ? new HttpError(status, error.message) : new HttpError(status)
}
