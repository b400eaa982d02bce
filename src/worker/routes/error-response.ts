import { BrokerError } from '../../broker/broker-error.ts'
import type { ErrorResponse, ErrorWire } from '../../http/http-error.ts'
import { FENCING_REJECTED_STATUS, WorkerError, type WorkerErrorCode } from '../model/worker-error.ts'

/** The HTTP status of each error code. `error_code` in the response has the same value. */
const STATUS_BY_CODE: Readonly<Record<WorkerErrorCode, number>> = {
  connector_not_found: 404,
  task_not_found: 404,
  status_not_found: 404,
  plugin_not_found: 404,
  logger_not_found: 404,
  level_not_found: 404,
  connector_exists: 409,
  rebalancing: 409,
  invalid_request: 400,
  invalid_config: 400,
  not_stopped: 400,
  reset_disabled: 403,
  offsets_refused: 500,
  start_failed: 500,
  shutting_down: 500,
  log_failed: 500,
  timed_out: 500,
  unsigned: 400,
  signature_wrong: 403,
  session_key_unknown: 503,
  peer_failed: 500,
  fencing_rejected: FENCING_REJECTED_STATUS,
  plugin_failed: 400,
  plugin_unresponsive: 400,
  plugin_crashed: 400,
  plugins_busy: 503,
  no_dead_letters: 400,
  dead_letters_unreadable: 500,
  dead_letters_busy: 503,
  dead_letter_not_found: 404,
  dead_letter_refused: 400,
  topic_not_found: 404,
  record_not_found: 404,
  records_refused: 403,
  records_unreadable: 500,
  records_busy: 503,
}

export const WORKER_ERROR_CODES = Object.fromEntries(
  Object.entries(STATUS_BY_CODE).map(([code, status]) => [code, { status, errorCode: status }]),
) as Readonly<Record<WorkerErrorCode, ErrorWire>>

/**
 * Maps the errors of the worker and the log to responses; undefined for other errors, which the HTTP server handles.
 */
export function workerErrorResponse(error: unknown): ErrorResponse | undefined {
  if (error instanceof BrokerError && error.code === 'record_too_large') {
    return { status: 400, body: { error_code: 400, message: error.message } }
  }
  if (error instanceof BrokerError) return { status: 500, body: { error_code: 500, message: error.message } }
  if (!(error instanceof WorkerError)) return undefined
  const status = STATUS_BY_CODE[error.code]
  return { status, body: { error_code: status, message: error.message } }
}
