import { messageOf } from '../errors.ts'

/** Tells a new error from one that a retried operation repeats, so that each is logged once, however often it is retried. */
export class ErrorDeduplicator {
  #last: string | undefined

  /** Whether this is the same error as in the last call. */
  isRepeated(error: unknown): boolean {
    const message = messageOf(error)
    const isRepeated = message === this.#last
    this.#last = message
    return isRepeated
  }

  /** The operation has succeeded: the next error is a new one. */
  clear(): void {
    this.#last = undefined
  }
}
