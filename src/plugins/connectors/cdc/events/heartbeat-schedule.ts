import type { TaskLog } from '../../../../sdk/index.ts'

export type HeartbeatScheduleOptions = {
  /** `heartbeat.interval.ms`; 0: never. */
  readonly intervalMs: number
  /** Executes `heartbeat.action.query`; undefined if there is none. */
  readonly executeQuery: (() => Promise<unknown>) | undefined
  readonly log: TaskLog
}

/** Decides when a heartbeat is due, and executes its query. */
export class HeartbeatSchedule {
  readonly #options: HeartbeatScheduleOptions
  #lastMs = performance.now()

  constructor(options: HeartbeatScheduleOptions) {
    this.#options = options
  }

  isDue(): boolean {
    const nowMs = performance.now()
    const { intervalMs, executeQuery, log } = this.#options
    if (intervalMs === 0 || nowMs - this.#lastMs < intervalMs) return false
    this.#lastMs = nowMs
    executeQuery?.().catch((error: unknown) => {
      log.warn({ err: error }, 'the query of the heartbeat failed')
    })
    return true
  }
}
