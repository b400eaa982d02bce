/** How much is kept, in characters of paths and answers; past that it begins anew. */
const CHARS_MAX = 8 * 1024 * 1024

/**
 * Answers to reads as they are sent, until anything in the registry changes: it is read far more often than written, and
 * most of an answer's cost is to write a schema's text as JSON.
 */
export class AnswerCache {
  readonly #answers = new Map<string, string>()
  #revision = -1
  #chars = 0

  /** `revision` is that of the state which the answer has to tell. */
  get(path: string, revision: number): string | undefined {
    return revision === this.#revision ? this.#answers.get(path) : undefined
  }

  keep(path: string, revision: number, answer: string): void {
    const chars = path.length + answer.length
    if (chars > CHARS_MAX) return
    if (revision !== this.#revision || this.#chars + chars > CHARS_MAX) {
      this.#answers.clear()
      this.#revision = revision
      this.#chars = 0
    }
    if (this.#answers.has(path)) return
    this.#answers.set(path, answer)
    this.#chars += chars
  }
}
