import type { TaskLog } from '../../../../../sdk/index.ts'
import { TIMER_MS_MAX } from '../../../jdbc/pause.ts'
import type { Session } from '../../session.ts'

export type XminMonitorOptions = {
  readonly session: Session
  readonly slot: string
  /** `xmin.fetch.interval.ms`; 0: never. */
  readonly intervalMs: number
  /** Receives the number of the oldest transaction whose catalog the slot needs. */
  readonly onXmin: (xmin: number) => void
  readonly log: TaskLog
}

/** Reads the xmin of a slot at the start and periodically, for the field `source.xmin` of events. */
export class XminMonitor implements Disposable {
  readonly #options: XminMonitorOptions
  #timer: NodeJS.Timeout | undefined

  private constructor(options: XminMonitorOptions) {
    this.#options = options
  }

  /** Resolves when the first value is read. */
  static async start(options: XminMonitorOptions): Promise<XminMonitor> {
    const monitor = new XminMonitor(options)
    const { intervalMs } = options
    if (intervalMs === 0) return monitor
    await monitor.#read()
    monitor.#timer = setInterval(() => void monitor.#read(), Math.min(intervalMs, TIMER_MS_MAX))
    return monitor
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** A failure is not reported: the stream fails as well when the server is unavailable. */
  async #read(): Promise<void> {
    const { session, slot, onXmin, log } = this.#options
    const sql = 'SELECT catalog_xmin FROM pg_replication_slots WHERE slot_name = $1'
    try {
      const [[xmin] = []] = await session.query(`read the xmin of the replication slot ${slot}`, sql, [slot])
      if (xmin != null) onXmin(Number(xmin))
    } catch (error) {
      log.debug({ err: error }, 'the xmin of the replication slot could not be read')
    }
  }
}
