import { type CompatibilityWorker, CompatibilityWorkerBusyError } from '../compatibility-worker/compatibility-worker.ts'
import { repeatWithResults, type SchemaOperation } from '../compatibility-worker/worker-results.ts'
import { SchemaError } from '../formats/schema-error.ts'
import { DecisionResults } from './commands/decision-results.ts'
import type { Decision, DecisionContext } from './commands/decision-types.ts'
import type { Leadership } from './leadership/leader-election.ts'
import type { LeaderWriter } from './leadership/leader-writer.ts'
import { invalidSchema, RegistryError } from './model/registry-error.ts'
import { FormatNotLoadedError } from './model/schema-types.ts'
import type { WriteErrorMessages } from './model/write-error-messages.ts'
import { WriteQueue } from './write-queue.ts'

export type RegistryOptions = {
  readonly decisionContext: Omit<DecisionContext, 'results'>
  readonly leadership: Leadership
  /** Parses and compares large schemas in a child process. */
  readonly compatibilityWorker: CompatibilityWorker
  /** Resolves when the index of contents by GUID is complete. Decisions wait for it. */
  readonly indexContents: () => Promise<void>
  /** Resolves when the state holds every record that the log has now. */
  readonly refresh: () => Promise<void>
  /** Why the state no longer follows the log. While it is defined, nothing is written. */
  readonly storeFailure: () => Error | undefined
  /** Called after each operation on a schema. */
  readonly onSchemaOperation: (operation: SchemaOperation) => void
  /** A monotonic time in milliseconds, which measures operations on schemas. */
  readonly nowMs: () => number
}

/**
 * The registry. Reads use `decisionContext.view`, the current state of this instance. Writes are decided one at a time,
 * each on the state that the previous one left.
 */
export class Registry {
  readonly decisionContext: Omit<DecisionContext, 'results'>
  readonly leadership: Leadership
  /** The queue of all writes to the log. */
  readonly writes: WriteQueue
  readonly #options: RegistryOptions
  #isIndexed = false

  constructor(options: RegistryOptions) {
    this.decisionContext = options.decisionContext
    this.leadership = options.leadership
    this.writes = new WriteQueue(options.leadership)
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

  /** Resolves when this instance has read everything that other instances wrote before the call. */
  refresh(): Promise<void> {
    return this.#options.refresh()
  }

  /** Creates the results of a request. A request that makes several decisions passes them to each. */
  newDecisionResults(): DecisionResults {
    return new DecisionResults(this.#options.onSchemaOperation, this.#options.nowMs)
  }

  /**
   * Calls `act` with the input of a decision. If a result for a large schema is missing, the compatibility worker
   * computes it and `act` is called again: decisions stay pure functions, and other requests do not wait. The code of a schema
   * type is loaded in the same way, because only the decision knows, for example, the type of the latest version. Rejects
   * with a `RegistryError`.
   */
  async withDecisionContext<Result>(
    act: (context: DecisionContext) => Result | Promise<Result>,
    results = this.newDecisionResults(),
  ): Promise<Result> {
    if (!this.#isIndexed) await this.#options.indexContents()
    this.#isIndexed = true
    const context = { ...this.decisionContext, results }
    for (;;) {
      try {
        return await repeatWithResults(() => act(context), results, this.#options.compatibilityWorker)
      } catch (error) {
        if (!(error instanceof FormatNotLoadedError)) throw toRegistryError(error)
        await context.schemas.formats.load(error.type)
      }
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
   */
  write<Answer>(
    decide: (context: DecisionContext) => Decision<Answer>,
    operation: WriteErrorMessages,
    results?: DecisionResults,
  ): Promise<Answer> {
    const decideNow = (context: DecisionContext) => {
      this.checkStore()
      const { records, answer } = decide(context)
      const append = records.length === 0 ? undefined : (writer: LeaderWriter) => writer.append(records)
      return { append, respond: () => answer }
    }
    return this.withDecisionContext((context) => this.writes.write(operation, () => decideNow(context)), results)
  }
}

function toRegistryError(error: unknown): unknown {
  if (error instanceof SchemaError) return invalidSchema(`Invalid schema, details: ${error.message}`)
  if (error instanceof CompatibilityWorkerBusyError) return new RegistryError('too_many_checks', error.message)
  return error
}
