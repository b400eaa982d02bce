import { Gate } from './gate.ts'
import type { ConvertedBatch } from './process-source-records.ts'
import type { TaskCounters } from './task-counters.ts'

/**
 * Limits of unacknowledged records, beyond which the task waits. They are the memory of a busy task several times over: V8
 * moves what lives longer than a few collections to the old generation, where its garbage stays for long. This many bytes
 * suffice for 80 MB/s to brokers that acknowledge after 50 ms.
 */
const RECORDS_MAX = 10_000
const BYTES_MAX = 4 * 1024 * 1024

type Counters = Pick<TaskCounters, 'recordsActive'>

/** The records, or dead letters, of a task that were sent and are not acknowledged yet. */
export class InFlightRecords {
  readonly #counters: Counters
  readonly #signal: AbortSignal
  readonly #room: Gate
  readonly #sends = new Set<Promise<void>>()
  #bytes = 0

  /** Waiting ends when `signal` is aborted. */
  constructor(counters: Counters, signal: AbortSignal) {
    this.#counters = counters
    this.#signal = signal
    this.#room = new Gate(() => counters.recordsActive < RECORDS_MAX && this.#bytes < BYTES_MAX, signal)
  }

  /** Counts the records of a batch until `sent` is settled. `sent` must not reject. */
  add({ records: { length }, bytes }: Pick<ConvertedBatch, 'records' | 'bytes'>, sent: Promise<void>): void {
    this.#counters.recordsActive += length
    this.#bytes += bytes
    const settled = sent.then(() => {
      this.#counters.recordsActive -= length
      this.#bytes -= bytes
      this.#sends.delete(settled)
      this.#room.changed()
    })
    this.#sends.add(settled)
  }

  /** Waits while there are too many records. */
  waitForRoom(): Promise<void> {
    return this.#room.pass(this.#signal)
  }

  /** Waits until every record that was added is acknowledged or has failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#sends)
  }
}
