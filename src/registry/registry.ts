import { type CompatibilityWorker, CompatibilityWorkerBusyError } from '../compatibility-worker/compatibility-worker.ts'
import { SchemaError } from '../formats/schema-error.ts'
import type { Decision, DecisionContext } from './commands/decision-types.ts'
import type { Leadership } from './leadership/leader-election.ts'
import type { LeaderWriter } from './leadership/leader-writer.ts'
import { invalidSchema, RegistryError } from './model/registry-error.ts'
import type { WriteErrorMessages } from './model/write-error-messages.ts'
import { storeFailure, WriteQueue } from './write-queue.ts'

export type RegistryOptions = {
  readonly decisionContext: DecisionContext
  readonly leadership: Leadership
  /** Parses large request bodies in a child process. */
  readonly compatibilityWorker: CompatibilityWorker
  /** Resolves when the state holds every record that the log has now. */
  readonly refresh: () => Promise<void>
  /** Why the state no longer follows the log. While it is defined, nothing is written. */
  readonly storeFailure: () => Error | undefined
}

/**
 * The registry. Reads use `decisionContext.view`, the current state of this instance. Writes are decided one at a time,
 * each on the state that the previous one left.
 */
export class Registry {
  readonly decisionContext: DecisionContext
  readonly leadership: Leadership
  /** The queue of all writes to the log. */
  readonly writes: WriteQueue
  readonly #options: RegistryOptions

  constructor(options: RegistryOptions) {
    this.decisionContext = options.decisionContext
    this.leadership = options.leadership
    this.writes = new WriteQueue(options.leadership, () => options.decisionContext.view.revision)
    this.#options = options
  }

  /** Throws `store_unreadable` when the state no longer follows the log. */
  checkStore(): void {
    const failure = this.#options.storeFailure()
    if (failure === undefined) return
    throw new RegistryError('store_unreadable', `Error while reading the backend Kafka store: ${failure.message}`, {
      cause: failure,
    })
  }

  /**
   * Resolves when this instance has read everything that other instances wrote before the call. Rejects with a `RegistryError`, for
   * which `operation` has the messages.
   */
  async refresh(operation: WriteErrorMessages): Promise<void> {
    try {
      await this.#options.refresh()
    } catch (error) {
      throw storeFailure(error, operation)
    }
  }

  /** Calls `act` with the input of a decision. Rejects with a `RegistryError`. */
  async withDecisionContext<Result>(act: (context: DecisionContext) => Promise<Result>): Promise<Result> {
    try {
      return await act(this.decisionContext)
    } catch (error) {
      throw toRegistryError(error)
    }
  }

  /** Parses a large request body in the compatibility worker. Rejects with `invalid_body` or `too_many_checks`. */
  async parseLargeBody(bytes: Buffer): Promise<unknown> {
    const outcome = await this.#options.compatibilityWorker
      .run({ op: 'body', bytes })
      .catch((error: unknown) => Promise.reject(toRegistryError(error)))
    if ('invalid' in outcome) throw new RegistryError('invalid_body', `the request body is invalid: ${outcome.invalid}`)
    return outcome.result
  }

  /**
   * Makes a decision, writes its records and resolves to its answer. Rejects with a `RegistryError`; `operation` has
   * the messages for a failure of the store.
   *
   * The decision is made before its turn in the queue, so that other writes do not wait for a comparison that takes long or is
   * rejected. It is made again in its turn if the state has changed since it began.
   */
  async write<Answer>(
    decide: (context: DecisionContext) => Decision<Answer> | Promise<Decision<Answer>>,
    operation: WriteErrorMessages,
  ): Promise<Answer> {
    const { view } = this.decisionContext
    const decideNow = () => this.withDecisionContext(async (context) => decide(context))
    const { revision } = view
    const early = await decideNow()
    return this.writes.write(operation, async () => {
      this.checkStore()
      const { records, answer } = view.revision === revision ? early : await decideNow()
      const append = records.length === 0 ? undefined : (writer: LeaderWriter) => writer.append(records)
      return { append, respond: () => answer }
    })
  }
}

function toRegistryError(error: unknown): unknown {
  if (error instanceof SchemaError) return invalidSchema(`Invalid schema, details: ${error.message}`)
  if (error instanceof CompatibilityWorkerBusyError) return new RegistryError('too_many_checks', error.message)
  return error
}
