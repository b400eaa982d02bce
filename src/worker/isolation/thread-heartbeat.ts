/**
 * The heartbeat of a thread that runs the code of plugins: the thread counts up in shared memory, and the main thread of
 * its process checks the count regularly. Checks are counted instead of time, so that a process that was suspended is
 * not taken for a blocked thread. `plugins/plugin-process-main.ts` and `tasks/task-process-main.ts` check it and
 * report a blocked thread; `tasks/task-process-pool.ts` then fails its task and starts the other tasks elsewhere.
 */
export class ThreadHeartbeat {
  /** Passed to the thread, which increments the first 32-bit integer. */
  readonly buffer = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  readonly #counter = new Int32Array(this.buffer)
  #last = 0
  #missed = 0

  /** Whether the thread has sent a heartbeat. Before the first one it is still starting. */
  get isReady(): boolean {
    return Atomics.load(this.#counter, 0) > 0
  }

  /**
   * To be called every `checkIntervalMs`. Returns true once when the thread has made no progress for `blockedMsMax`.
   */
  isBlocked(blockedMsMax: number, checkIntervalMs: number): boolean {
    const heartbeats = Atomics.load(this.#counter, 0)
    this.#missed = heartbeats === this.#last && heartbeats > 0 ? this.#missed + 1 : 0
    this.#last = heartbeats
    return this.#missed === Math.ceil(blockedMsMax / checkIntervalMs)
  }
}
