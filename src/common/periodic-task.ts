import type { Clock } from './clock.ts'

/** Runs a task repeatedly, one run at a time, until it is stopped. */
export class PeriodicTask {
  readonly #clock: Pick<Clock, 'sleep'>
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock
  }

  get isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  /** `work` returns the milliseconds until its next run and must not throw. The first run is after `firstAfterMs`. */
  start(job: () => Promise<number> | number, firstAfterMs = 0): void {
    this.#running = this.#run(job, firstAfterMs)
  }

  /** Resolves when the current run has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(job: () => Promise<number> | number, firstAfterMs: number): Promise<void> {
    for (let restMs = firstAfterMs; !this.isStopped; ) {
      if (restMs > 0) await this.#clock.sleep(restMs, this.#stopping.signal).catch(() => undefined)
      if (!this.isStopped) restMs = await job()
    }
  }
}
