const MB = 1024 * 1024
/** Memory in MB that V8 needs beside plugin data: the young generation, compiled code and uncollected garbage. */
const HEADROOM_MB = 96

/**
 * Limits the resident memory of a task process to `mbMax` MB and a headroom above its first measurement, taken when the
 * thread is ready. Covers V8's heap and everything outside of it (buffers, shared memory, WebAssembly, native
 * libraries).
 */
export class ResidentLimit {
  readonly #bytesMax: number
  #baseBytes: number | undefined
  #wasOver = false

  constructor(mbMax: number) {
    this.#bytesMax = (mbMax + HEADROOM_MB) * MB
  }

  /**
   * Evaluates one measurement. Returns true if it is the second consecutive one above the limit, or above 1.5 times the
   * limit.
   */
  isExceeded(residentBytes: number): boolean {
    this.#baseBytes ??= residentBytes
    const takenBytes = residentBytes - this.#baseBytes
    const isOver = takenBytes > this.#bytesMax
    const isExceeded = isOver && (this.#wasOver || takenBytes > 1.5 * this.#bytesMax)
    this.#wasOver = isOver
    return isExceeded
  }
}
