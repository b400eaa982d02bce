import type { TaskLog } from '../../../../../sdk/index.ts'
import { DatabaseError } from '../../../jdbc/database-error.ts'
import type { Session } from '../../session.ts'
import type { Lsn } from '../changes/change.ts'

/** Prefix of the logical messages that connectors write into the log as heartbeats. They are never events. */
export const HEARTBEAT_PREFIX = 'weir.heartbeat'

/**
 * Growth of the server's log after which a heartbeat is worth its write. Less retains no file of the log; and a message on a server
 * that is idle would let it archive a file whenever `archive_timeout` has passed.
 */
const LOG_BYTES_MIN = 1024n * 1024n

/** Logical messages are sent since version 14. */
const VERSION_MIN = 140_000
/** Since version 17 a message can be written to disk at once; earlier it is sent when the server writes its log next. */
const FLUSH_VERSION_MIN = 170_000

export type HeartbeatMessageOptions = {
  readonly session: Session
  /** `heartbeat.message.interval.ms`; 0: never. */
  readonly intervalMs: number
  readonly serverVersion: number
  readonly isStandby: boolean
  /** Where the stream starts. */
  readonly startLsn: Lsn
  /** The end of the log that the server last reported. */
  readonly serverLsn: () => Lsn
  readonly log: TaskLog
}

/**
 * Writes a logical message from time to time while the log of the server grows but the stream has no changes, because others write:
 * other databases, or tables that are not published. The stream then has a position of its own to store and to acknowledge.
 */
export class HeartbeatMessages implements Disposable {
  readonly #options: HeartbeatMessageOptions
  #timer: NodeJS.Timeout | undefined
  /** End of the log at the last change or heartbeat. */
  #lastLsn: Lsn
  #hasChanges = false

  constructor(options: HeartbeatMessageOptions) {
    this.#options = options
    this.#lastLsn = options.startLsn
    const { intervalMs, isStandby, serverVersion } = options
    if (intervalMs === 0) return
    if (isStandby) this.#turnOff('the server is a standby')
    else if (serverVersion < VERSION_MIN) this.#turnOff('the server sends logical messages since version 14')
    else this.#timer = setInterval(() => void this.#beat(), intervalMs)
  }

  /** Call it when the stream has delivered changes. */
  onChanges(): void {
    this.#hasChanges = true
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  async #beat(): Promise<void> {
    const { session, serverVersion, serverLsn, log } = this.#options
    const lsn = serverLsn()
    const isDue = !this.#hasChanges && lsn - this.#lastLsn >= LOG_BYTES_MIN
    if (isDue || this.#hasChanges) this.#lastLsn = lsn
    this.#hasChanges = false
    if (!isDue) return
    const flush = serverVersion >= FLUSH_VERSION_MIN ? ', true' : ''
    try {
      await session.query('write a heartbeat message', `SELECT pg_logical_emit_message(false, $1, ''::text${flush})`, [
        HEARTBEAT_PREFIX,
      ])
    } catch (error) {
      // The stream fails as well when the server is unavailable.
      if (error instanceof DatabaseError && error.isTransient)
        log.debug({ err: error }, 'no heartbeat could be written')
      else this.#turnOff((error as Error).message)
    }
  }

  #turnOff(reason: string): void {
    clearInterval(this.#timer)
    const effect = 'the slot follows the positions that the server reports'
    this.#options.log.info({ reason }, `no heartbeat messages are written; ${effect}`)
  }
}
