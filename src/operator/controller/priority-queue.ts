/** `user`: a user changed something and may be waiting. `routine`: a periodic check or a mass update. */
export type Priority = 'user' | 'routine'

/** Every eighth key is a routine one, so that a flood of changes does not stop the periodic checks. */
const ROUTINE_SHARE = 8

/** The waiting keys of one flow in order of arrival, with the monotonic time of their first `add`. */
export class PriorityQueue<Key> {
  readonly name: string
  readonly #waiting: Record<Priority, Map<Key, number>> = { user: new Map(), routine: new Map() }
  /** How many of its keys are being processed. */
  working = 0
  #taken = 0

  constructor(name: string) {
    this.name = name
  }

  get hasWaiting(): boolean {
    return this.#waiting.user.size + this.#waiting.routine.size > 0
  }

  add(key: Key, priority: Priority, sinceMs: number): void {
    if (this.#waiting.user.has(key)) return
    if (priority === 'user') this.#waiting.routine.delete(key)
    if (!this.#waiting.routine.has(key)) this.#waiting[priority].set(key, sinceMs)
  }

  /** Returns the priority of the removed key. */
  remove(key: Key): Priority {
    this.#waiting.routine.delete(key)
    return this.#waiting.user.delete(key) ? 'user' : 'routine'
  }

  /** The next key; undefined when none waits. */
  next(): Key | undefined {
    const { user, routine } = this.#waiting
    const isRoutineTurn = this.#taken % ROUTINE_SHARE === ROUTINE_SHARE - 1
    const [key] = (user.size === 0 || (routine.size > 0 && isRoutineTurn) ? routine : user).keys()
    if (key !== undefined) this.#taken += 1
    return key
  }
}
