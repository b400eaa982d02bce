import { BrokerError } from '../broker/error.ts'
import { messageOf } from '../config/failure.ts'
import type { Decision, Grounds } from './decision.ts'
import { RegistryError } from './failure.ts'
import type { Leadership } from './leader.ts'
import { decideRegister, findRegistered, type RegisterAnswer, type Registration } from './register.ts'
import type { RegistryRecord } from './store/record.ts'

/** Where decisions are kept. */
export type RegistryLog = {
  /** Writes the records, in order and together, and resolves when the state has them. Rejects with a `BrokerError`. */
  append(records: readonly Exclude<RegistryRecord, { kind: 'none' }>[]): Promise<void>
  /** Resolves when the state has everything that stands in the log now. */
  refresh(): Promise<void>
}

/** Writes wait for one another; past this bound a new one is refused instead of waiting without end. */
const WAITING_MAX = 10_000

/**
 * The registry: reads go to `grounds.view`, which is always current on this instance; writes are decided one at a time,
 * each on what the one before left.
 */
export class Registry {
  readonly grounds: Grounds
  readonly #log: RegistryLog
  readonly #leadership: Leadership
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(grounds: Grounds, log: RegistryLog, leadership: Leadership) {
    this.grounds = grounds
    this.#log = log
    this.#leadership = leadership
  }

  /** Registers a schema, or finds it registered already, which needs no write and no leader. */
  async register(request: Registration): Promise<RegisterAnswer> {
    const registered = findRegistered(this.grounds, request)
    if (registered) return { schema: registered, changed: false }
    return this.write((grounds) => decideRegister(grounds, request), 'Register')
  }

  /** Decides, writes and answers. Rejects with a `RegistryError`; `operation` is the first word of a store's failure. */
  async write<Answer>(decide: (grounds: Grounds) => Decision<Answer>, operation: string): Promise<Answer> {
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

  async #decideAndWrite<Answer>(decide: (grounds: Grounds) => Decision<Answer>, operation: string): Promise<Answer> {
    if (!this.#leadership.isLeader()) throw new RegistryError('leader_unknown', 'Leader not known.')
    const { records, answer } = decide(this.grounds)
    try {
      if (records.length > 0) await this.#log.append(records)
    } catch (error) {
      // What was written is unknown: the next decision has to see it.
      await this.#log.refresh().catch(() => {})
      throw storeFailure(error, operation)
    }
    return answer
  }
}

function storeFailure(error: unknown, operation: string): Error {
  if (!(error instanceof BrokerError)) return error as Error
  const cause = { cause: error }
  if (error.code === 'record_too_large') {
    return new RegistryError('schema_too_large', `${operation} operation failed because schema is too large`, cause)
  }
  if (error.code === 'timeout') return new RegistryError('store_timeout', `${operation} operation timed out`, cause)
  const message = `${operation} schema operation failed while writing to the Kafka store: ${messageOf(error)}`
  return new RegistryError('store_failed', message, cause)
}
