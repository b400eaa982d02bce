import { BrokerError } from '../broker/broker-error.ts'
import { messageOf } from '../common/errors.ts'
import { Semaphore } from '../common/semaphore.ts'
import type { Leadership } from './leadership/leader-election.ts'
import type { LeaderWriter } from './leadership/leader-writer.ts'
import { RegistryError } from './model/registry-error.ts'
import { type WriteErrorMessages, withMissingRight } from './model/write-error-messages.ts'

/** The maximum number of waiting writes, besides the one that is made. Further writes are rejected. */
const WAITING_MAX = 10_000

/** The result of a decision. */
export type QueuedWrite<Response> = {
  /** Resolves when the records are in the log and in the state. Undefined if there is nothing to write. */
  readonly append: ((writer: LeaderWriter) => Promise<void>) | undefined
  /** Called after `append` has resolved. */
  readonly respond: () => Response
}

type Decide<Response> = () => QueuedWrite<Response> | Promise<QueuedWrite<Response>>

/** Runs decisions and their writes one at a time, each on the state that the previous one left. */
export class WriteQueue {
  readonly #leadership: Leadership
  readonly #revision: () => number
  readonly #turns = new Semaphore(1, {
    // One more is running.
    waitingMax: WAITING_MAX - 1,
    full: () => new RegistryError('too_many_writes', `${WAITING_MAX} writes are waiting: retry later`),
  })

  /** `revision` changes with each record that is applied to the state. */
  constructor(leadership: Leadership, revision: () => number) {
    this.#leadership = leadership
    this.#revision = revision
  }

  /** Rejects with a `RegistryError`; `operation` has the messages for a failure of the store. */
  write<Response>(operation: WriteErrorMessages, decide: Decide<Response>): Promise<Response> {
    return this.#turns.run(() => this.#decideAndWrite(operation, decide))
  }

  /**
   * A decision may wait, for example for the comparison of large schemas. As long as this instance leads, nothing else writes
   * meanwhile. If records of another leader were applied, the decision was made on more than one state and is made again. A
   * writer that was replaced meanwhile must not be used, because the next decision is made before its records are read.
   */
  async #decideOnOneState<Response>(
    writer: LeaderWriter,
    operation: WriteErrorMessages,
    decide: Decide<Response>,
  ): Promise<QueuedWrite<Response>> {
    for (;;) {
      const revision = this.#revision()
      const decided = await decide()
      if (this.#leadership.writer() !== writer) throw new RegistryError('leader_unknown', operation.leaderless)
      if (this.#revision() === revision) return decided
    }
  }

  async #decideAndWrite<Response>(operation: WriteErrorMessages, decide: Decide<Response>): Promise<Response> {
    const writer = this.#leadership.writer()
    if (!writer) {
      const { leaderless } = withMissingRight(operation, this.#leadership.problem())
      throw new RegistryError('leader_unknown', leaderless)
    }
    const { append, respond } = await this.#decideOnOneState(writer, operation, decide)
    try {
      await append?.(writer)
    } catch (error) {
      // It is unknown whether the records were written. Opening the next writer reads them before the next decision.
      this.#leadership.replaceWriter(messageOf(error))
      throw storeFailure(error, operation)
    }
    return respond()
  }
}

/** The response to a failure of the store, whose messages `operation` has. */
export function storeFailure(error: unknown, operation: WriteErrorMessages): Error {
  if (!(error instanceof BrokerError)) return error as Error
  const { timedOut, notStored } = withMissingRight(operation, error)
  const cause = { cause: error }
  if (error.code === 'record_too_large') {
    return new RegistryError('schema_too_large', 'Register operation failed because schema is too large', cause)
  }
  if (error.code === 'timeout') return new RegistryError('store_timeout', timedOut, cause)
  return new RegistryError('store_failed', notStored, cause)
}
