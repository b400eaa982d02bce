import type { Decision, DecisionContext } from './commands/decision.ts'
import type { WriteOperation } from './commands/write-operation.ts'
import type { CompatibilityWorker } from './compatibility-worker/compatibility-worker.ts'
import { Facts, MissingFact } from './compatibility-worker/facts.ts'
import type { Leadership, LeaderWriter } from './leadership/leader-election.ts'
import type { SchemaOperation } from './metrics/metrics.ts'
import { RegistryError } from './model/registry-error.ts'
import { WriteQueue } from './write-queue.ts'

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
  /** Everything that is written to the log. */
  readonly writes: WriteQueue
  readonly #options: RegistryOptions

  constructor(options: RegistryOptions) {
    this.grounds = options.grounds
    this.leadership = options.leadership
    this.examiner = options.examiner
    this.writes = new WriteQueue(options.leadership)
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
    const decideNow = (grounds: DecisionContext) => {
      this.checkStore()
      const { records, answer } = decide(grounds)
      const append = records.length === 0 ? undefined : (writer: LeaderWriter) => writer.append(records)
      return { append, respond: () => answer }
    }
    return this.think((grounds) => this.writes.write(operation, () => decideNow(grounds)), facts)
  }
}
