import { BrokerError } from '../broker/broker-error.ts'
import { messageOf } from '../common/errors.ts'
import type { Leadership } from './leadership/leader-election.ts'
import type { LeaderWriter } from './leadership/leader-writer.ts'
import { RegistryError } from './model/registry-error.ts'
import type { WriteErrorMessages } from './model/write-error-messages.ts'

/** The maximum number of waiting writes. Further writes are rejected. */
const WAITING_MAX = 10_000

/** The result of a decision. */
export type QueuedWrite<Response> = {
  /** Resolves when the records are in the log and in the state. Undefined if there is nothing to write. */
  readonly append: ((writer: LeaderWriter) => Promise<void>) | undefined
  /** Called after `append` has resolved. */
  readonly respond: () => Response
}

/** Runs decisions and their writes one at a time, each on the state that the previous one left. */
export class WriteQueue {
  readonly #leadership: Leadership
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(leadership: Leadership) {
    this.#leadership = leadership
  }

  /** Rejects with a `RegistryError`; `operation` has the messages for a failure of the store. */
  async write<Response>(operation: WriteErrorMessages, decide: () => QueuedWrite<Response>): Promise<Response> {
    if (this.#waiting >= WAITING_MAX) {
      throw new RegistryError('too_many_writes', `${WAITING_MAX} writes are waiting: retry later`)
    }
    this.#waiting += 1
    const turn = this.#last.then(() => this.#decideAndWrite(operation, decide))
    this.#last = turn.catch(() => {})
    try {
      return await turn
    } finally {
      this.#waiting -= 1
    }
  }

  async #decideAndWrite<Response>(
    operation: WriteErrorMessages,
    decide: () => QueuedWrite<Response>,
  ): Promise<Response> {
    const writer = this.#leadership.writer()
    if (!writer) throw new RegistryError('leader_unknown', operation.leaderless)
    const { append, respond } = decide()
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

function storeFailure(error: unknown, { timedOut, notStored }: WriteErrorMessages): Error {
  if (!(error instanceof BrokerError)) return error as Error
  const cause = { cause: error }
  if (error.code === 'record_too_large') {
    return new RegistryError('schema_too_large', 'Register operation failed because schema is too large', cause)
  }
  if (error.code === 'timeout') return new RegistryError('store_timeout', timedOut, cause)
  return new RegistryError('store_failed', notStored, cause)
}
