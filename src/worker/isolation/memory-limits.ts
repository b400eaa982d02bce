// The memory limits of the processes in which tasks and plugins run: V8 limits its heap (`--max-old-space-size`), and the worker
// measures their resident memory. `memoryMbMax` is `worker.thread.memory.mb` or `worker.plugin.memory.mb`.

/** The end of the tasks in a process that exceeded its limit, after the name of the task. */
export function taskMemoryExceeded(memoryMbMax: number): string {
  return `exceeded the memory limit of its thread, ${memoryMbMax} MB (worker.thread.memory.mb)`
}

/** The end of a plugin process that exceeded its limit, after the name of the plugin. */
export function pluginMemoryExceeded(memoryMbMax: number): string {
  return `exceeded the memory limit of its process, ${memoryMbMax} MB (worker.plugin.memory.mb)`
}

const MB = 1024 * 1024
/** Memory in MB that V8 needs beside plugin data: the young generation, compiled code and uncollected garbage. */
const HEADROOM_MB = 96

/**
 * Limits the resident memory of a process to `memoryMbMax` MB and a headroom above its first measurement. Covers V8's heap and everything outside of it (buffers, shared memory, WebAssembly, native
 * libraries).
 */
export class ResidentLimit {
  readonly #bytesMax: number
  #baseBytes: number | undefined
  #takenBytes = 0
  #wasOver = false

  constructor(memoryMbMax: number) {
    this.#bytesMax = (memoryMbMax + HEADROOM_MB) * MB
  }

  /** Part of the limit that was in use at the last measurement. */
  get usedPart(): number {
    return Math.max(0, this.#takenBytes / this.#bytesMax)
  }

  /**
   * Evaluates one measurement. Returns true if it is the second consecutive one above the limit, or above 1.5 times the
   * limit.
   */
  isExceeded(residentBytes: number): boolean {
    this.#baseBytes ??= residentBytes
    this.#takenBytes = residentBytes - this.#baseBytes
    const isOver = this.#takenBytes > this.#bytesMax
    const isExceeded = isOver && (this.#wasOver || this.#takenBytes > 1.5 * this.#bytesMax)
    this.#wasOver = isOver
    return isExceeded
  }
}
