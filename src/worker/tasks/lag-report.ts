import type { SinkOffsets } from './sink-offsets.ts'
import type { WorkerTaskContext } from './task-context.ts'

const INTERVAL_MS = 5_000
const PARTITIONS_MAX = 16

/** Reports the highest lags of a sink to the worker, at most every 5 s and only if they have changed. */
export class LagReport {
  readonly #context: Pick<WorkerTaskContext, 'clock' | 'report'>
  #nextMs = 0
  #sent = '[]'

  constructor(context: Pick<WorkerTaskContext, 'clock' | 'report'>) {
    this.#context = context
  }

  /** To be called regularly, also when there are no records, because the last lag before a pause would remain. */
  send(offsets: SinkOffsets): void {
    const { clock, report } = this.#context
    const nowMs = clock.monotonicMs()
    if (nowMs < this.#nextMs) return
    this.#nextMs = nowMs + INTERVAL_MS
    const lags = offsets.highestLags(PARTITIONS_MAX)
    const text = JSON.stringify(lags)
    if (text === this.#sent) return
    this.#sent = text
    report({ type: 'lags', lags })
  }
}
