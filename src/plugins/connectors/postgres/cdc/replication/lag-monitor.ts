import type { SourceLag, TaskLog } from '../../../../../sdk/index.ts'
import type { Session } from '../../session.ts'
import { readSlot } from './slot.ts'

const INTERVAL_MS = 5_000

export type LagMonitorOptions = {
  readonly session: Session
  readonly slot: string
  readonly report: (lag: SourceLag) => void
  readonly log: TaskLog
}

/** Reports periodically how much log the server retains for a slot, and how far the stream is behind. */
export class LagMonitor implements Disposable {
  readonly #options: LagMonitorOptions
  readonly #timer: NodeJS.Timeout
  /** When the last change was committed, in ms since 1970; undefined while the stream has delivered everything. */
  #committedMs: number | undefined
  #isReading = false

  constructor(options: LagMonitorOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#read(), INTERVAL_MS)
    void this.#read()
  }

  /** Call it with each batch. `committedAtUs`: when its last change was committed; undefined if everything was delivered. */
  onBatch(committedAtUs: bigint | undefined): void {
    this.#committedMs = committedAtUs === undefined ? undefined : Number(committedAtUs / 1000n)
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  /** A failure is not reported: the stream fails as well when the server is unavailable. */
  async #read(): Promise<void> {
    const { session, slot, report, log } = this.#options
    if (this.#isReading) return
    this.#isReading = true
    try {
      const found = await readSlot(session, slot)
      const ms = this.#committedMs === undefined ? 0 : Math.max(0, Date.now() - this.#committedMs)
      report({ ms, bytes: Number(found?.lagBytes ?? 0), retainedBytes: Number(found?.retainedBytes ?? 0) })
    } catch (error) {
      log.debug({ err: error }, 'the lag of the replication slot could not be read')
    } finally {
      this.#isReading = false
    }
  }
}
