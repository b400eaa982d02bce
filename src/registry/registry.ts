import { BrokerError } from '../broker/error.ts'
import { messageOf } from '../config/failure.ts'
import type { Decision, Grounds } from './decision.ts'
import { RegistryError } from './failure.ts'
import type { Leadership } from './leader.ts'
import type { Operation } from './operation.ts'

/** Writes wait for one another; past this bound a new one is refused instead of waiting without end. */
const WAITING_MAX = 10_000

/**
 * The registry: reads go to `grounds.view`, which is always current on this instance; writes are decided one at a time,
 * each on what the one before left.
 */
export class Registry {
  readonly grounds: Grounds
  readonly leadership: Leadership
  readonly #refresh: () => Promise<void>
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** `refresh` resolves when the state has everything that stands in the log now. */
  constructor(grounds: Grounds, leadership: Leadership, refresh: () => Promise<void>) {
    this.grounds = grounds
    this.leadership = leadership
    this.#refresh = refresh
  }

  /** Makes what another instance has written visible here. */
  refresh(): Promise<void> {
    return this.#refresh()
  }

  /** Decides, writes and answers. Rejects with a `RegistryError`; `operation` words a failure of the store. */
  async write<Answer>(decide: (grounds: Grounds) => Decision<Answer>, operation: Operation): Promise<Answer> {
    if (this.#waiting >= WAITING_MAX) {
      throw new RegistryError('too_many_writes', `${WAITING_MAX} writes are waiting: try again later`)
    }
    this.#waiting += 1
    const turn = this.#last.then(() => this.#decideAndWrite(decide, operation))
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      this.#waiting -= 1
    }
  }

  async #decideAndWrite<Answer>(decide: (grounds: Grounds) => Decision<Answer>, operation: Operation): Promise<Answer> {
    const pen = this.leadership.pen()
    if (!pen) throw new RegistryError('leader_unknown', operation.leaderless)
    const { records, answer } = decide(this.grounds)
    try {
      if (records.length > 0) await pen.append(records)
    } catch (error) {
      // Whether it was written is unknown. The next pen sees what was, before anything is decided with it.
      this.leadership.dropPen(messageOf(error))
      throw storeFailure(error, operation)
    }
    return answer
  }
}

function storeFailure(error: unknown, { timedOut, notStored }: Operation): Error {
  if (!(error instanceof BrokerError)) return error as Error
  const cause = { cause: error }
  if (error.code === 'record_too_large') {
    return new RegistryError('schema_too_large', 'Register operation failed because schema is too large', cause)
  }
  if (error.code === 'timeout') return new RegistryError('store_timeout', timedOut, cause)
  return new RegistryError('store_failed', notStored, cause)
}
