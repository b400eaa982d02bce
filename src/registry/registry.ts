import { BrokerError } from '../broker/error.ts'
import { messageOf } from '../config/failure.ts'
import type { Decision, DecisionContext } from './commands/decision.ts'
import type { WriteOperation } from './commands/write-operation.ts'
import type { CompatibilityWorker } from './compatibility-worker/compatibility-worker.ts'
import { Facts, MissingFact } from './compatibility-worker/facts.ts'
import type { Leadership } from './leadership/leader-election.ts'
import type { SchemaOperation } from './metrics/metrics.ts'
import { RegistryError } from './model/registry-error.ts'

/** Writes wait for one another; past this bound a new one is refused instead of waiting without end. */
const WAITING_MAX = 10_000

export type RegistryOptions = {
  readonly grounds: Omit<DecisionContext, 'facts'>
  readonly leadership: Leadership
  readonly examiner: CompatibilityWorker
  /** Resolves when the state has everything that stands in the log now. */
  readonly refresh: () => Promise<void>
  /** Why the state no longer follows the log: then nothing is written. */
  readonly storeFailure: () => Error | undefined
  /** Hears of what was done with schemas. */
  readonly operated: (operation: SchemaOperation) => void
}

/**
 * The registry: reads go to `grounds.view`, which is always current on this instance; writes are decided one at a time,
 * each on what the one before left.
 */
export class Registry {
  readonly grounds: Omit<DecisionContext, 'facts'>
  readonly leadership: Leadership
  /** Examines what is large. */
  readonly examiner: CompatibilityWorker
  readonly #options: RegistryOptions
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(options: RegistryOptions) {
    this.grounds = options.grounds
    this.leadership = options.leadership
    this.examiner = options.examiner
    this.#options = options
  }

  /** Throws when the state no longer follows the log: nothing may be decided with it. */
  checkStore(): void {
    const failure = this.#options.storeFailure()
    if (failure === undefined) return
    throw new RegistryError('store_unreadable', `Error while reading the backend Kafka store: ${failure.message}`, {
      cause: failure,
    })
  }

  /** Makes what another instance has written visible here. */
  refresh(): Promise<void> {
    return this.#options.refresh()
  }

  /** What a request finds out. One that thinks more than once hands it on. */
  newFacts(): Facts {
    return new Facts(this.#options.operated)
  }

  /**
   * Does what reads schemas. When it lacks a fact about a large one, the examiner finds that out and it is done anew: so
   * decisions stay plain functions of what is, and nobody else waits.
   */
  async think<Answer>(
    act: (grounds: DecisionContext) => Answer | Promise<Answer>,
    facts = this.newFacts(),
  ): Promise<Answer> {
    const grounds = { ...this.grounds, facts }
    for (;;) {
      try {
        return await act(grounds)
      } catch (error) {
        if (!(error instanceof MissingFact)) throw error
        await facts.find(error.job, this.examiner)
      }
    }
  }

  /** Decides, writes and answers. Rejects with a `RegistryError`; `operation` words a failure of the store. */
  write<Answer>(
    decide: (grounds: DecisionContext) => Decision<Answer>,
    operation: WriteOperation,
    facts?: Facts,
  ): Promise<Answer> {
    return this.think((grounds) => this.#inTurn(() => this.#decideAndWrite(decide, grounds, operation)), facts)
  }

  async #inTurn<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    if (this.#waiting >= WAITING_MAX) {
      throw new RegistryError('too_many_writes', `${WAITING_MAX} writes are waiting: try again later`)
    }
    this.#waiting += 1
    const turn = this.#last.then(act)
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      this.#waiting -= 1
    }
  }

  async #decideAndWrite<Answer>(
    decide: (grounds: DecisionContext) => Decision<Answer>,
    grounds: DecisionContext,
    operation: WriteOperation,
  ): Promise<Answer> {
    this.checkStore()
    const pen = this.leadership.pen()
    if (!pen) throw new RegistryError('leader_unknown', operation.leaderless)
    const { records, answer } = decide(grounds)
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

function storeFailure(error: unknown, { timedOut, notStored }: WriteOperation): Error {
  if (!(error instanceof BrokerError)) return error as Error
  const cause = { cause: error }
  if (error.code === 'record_too_large') {
    return new RegistryError('schema_too_large', 'Register operation failed because schema is too large', cause)
  }
  if (error.code === 'timeout') return new RegistryError('store_timeout', timedOut, cause)
  return new RegistryError('store_failed', notStored, cause)
}
