const MB = 1024 * 1024
/** V8 needs it beside what plugins hold: the young generation, compiled code, garbage that is not collected yet. */
const HEADROOM_MB = 96

/**
 * Bounds the resident memory of a task process: whatever plugins allocate, on V8's heap or outside of it (buffers, shared
 * memory, WebAssembly, native libraries), above what the process held when its thread was ready.
 */
export class ResidentLimit {
  readonly #bytesMax: number
  #baseBytes: number | undefined
  #wasOver = false

  constructor(mbMax: number) {
    this.#bytesMax = (mbMax + HEADROOM_MB) * MB
  }

  /** Takes a measurement. Twice in a row above the limit is too much; far above it, once is enough. */
  isExceeded(residentBytes: number): boolean {
    this.#baseBytes ??= residentBytes
    const takenBytes = residentBytes - this.#baseBytes
    const isOver = takenBytes > this.#bytesMax
    const isExceeded = isOver && (this.#wasOver || takenBytes > 1.5 * this.#bytesMax)
    this.#wasOver = isOver
    return isExceeded
  }
}
