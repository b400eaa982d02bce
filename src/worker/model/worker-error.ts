import { UserError } from '../../common/errors.ts'

/** What a request to the worker can be refused with. The numbers of the wire stand in `routes/errors.ts`. */
export type WorkerErrorCode =
  | 'connector_not_found'
  | 'task_not_found'
  | 'status_not_found'
  | 'plugin_not_found'
  | 'logger_not_found'
  | 'level_not_found'
  | 'connector_exists'
  | 'invalid_request'
  | 'invalid_config'
  | 'not_stopped'
  | 'offsets_refused'
  | 'start_failed'
  | 'reset_disabled'
  | 'rebalancing'
  | 'shutting_down'
  | 'log_failed'
  | 'timed_out'
  | 'unsigned'
  | 'signature_wrong'
  | 'session_key_unknown'
  | 'peer_failed'
  | 'fencing_rejected'
  | 'plugin_failed'
  | 'plugin_unresponsive'
  | 'plugin_crashed'
  | 'plugins_busy'
  | 'no_dead_letters'
  | 'dead_letters_unreadable'
  | 'dead_letters_busy'
  | 'dead_letter_not_found'
  | 'dead_letter_refused'
  | 'topic_not_found'
  | 'record_not_found'
  | 'records_refused'
  | 'records_unreadable'
  | 'records_busy'

export class WorkerError extends UserError<WorkerErrorCode> {
  override readonly name = 'WorkerError'
}

/** Failed Dependency. No other error has this HTTP status: by it, a worker knows that it need not ask the leader again. */
export const FENCING_REJECTED_STATUS = 424
