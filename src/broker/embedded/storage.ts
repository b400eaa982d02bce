import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Logger } from '../../config/logger.ts'
import { BrokerError } from '../error.ts'
import { openDataDirectory, toStorageError } from './data-directory.ts'

/** What a job may hang on the transaction it runs in. */
export interface Change {
  /** Runs when it is stored: wake those who wait. */
  onCommit(effect: () => void): void
  /** Takes back what the job changed in memory; the last one first. */
  onRollback(undo: () => void): void
}

type Job = {
  readonly run: (change: Change) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly value: unknown } | { readonly error: BrokerError }

/** Jobs that may wait for one turn of the event loop; more is a caller that does not wait for its answers. */
const JOBS_WAITING_MAX = 100_000

/**
 * The database and its one writer. Writes of one turn of the event loop share one transaction (group commit), so many
 * small ones cost what one does. Reads see only what is committed, because a transaction begins and ends in one go.
 */
export class Storage {
  readonly #directory: string
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #logger: Logger
  #waiting: Job[] = []
  #open = true
  #isFull = false

  constructor(directory: string, { nowMs, logger }: { readonly nowMs: number; readonly logger: Logger }) {
    this.#directory = directory
    this.#logger = logger
    this.#database = openDataDirectory(directory, nowMs)
  }

  /** A prepared statement, the same for the same text: so the texts must be few. */
  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.guarded(() => this.#database.prepare(sql))
    this.#statements.set(sql, statement)
    return statement
  }

  /** Reads, with failures of the disk as `BrokerError`s. */
  guarded<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw toStorageError(error, this.#directory)
    }
  }

  /**
   * Runs a job inside this turn's transaction and resolves when that is stored. A job either changes something or
   * throws a `BrokerError`, never both: so a refused job leaves its neighbours alone. It is run again, alone, when the
   * shared transaction fails.
   */
  write<T>(run: (change: Change) => T): Promise<T> {
    if (!this.#open) return Promise.reject(new BrokerError('closed', 'the embedded broker is closed'))
    if (this.#waiting.length >= JOBS_WAITING_MAX) {
      return Promise.reject(new BrokerError('unavailable', `${JOBS_WAITING_MAX} writes wait already: wait for answers`))
    }
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush())
      this.#waiting.push({ run, resolve, reject })
    })
  }

  /** Stores what waits, now. When a shared transaction fails, each job is tried alone, so that only the guilty fail. */
  flush(): void {
    const jobs = this.#waiting
    this.#waiting = []
    if (jobs.length === 0 || this.#commit(jobs)) return
    for (const job of jobs) this.#commit([job], job.reject)
  }

  close(): void {
    if (!this.#open) return
    this.flush()
    this.#open = false
    this.#database.close()
  }

  /** Answers whether the jobs are stored; `failed` hears why not. */
  #commit(jobs: readonly Job[], failed?: (error: unknown) => void): boolean {
    const effects: (() => void)[] = []
    const undos: (() => void)[] = []
    const change: Change = { onCommit: (effect) => effects.push(effect), onRollback: (undo) => undos.push(undo) }
    let outcomes: readonly Outcome[]
    try {
      this.#database.exec('begin')
      outcomes = jobs.map((job) => attempt(job, change))
      this.#database.exec('commit')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('rollback')
      for (const undo of undos.reverse()) undo()
      const reason = toStorageError(error, this.#directory)
      failed?.(reason)
      this.#saySpace(reason instanceof BrokerError && reason.code === 'disk_full')
      return false
    }
    this.#saySpace(false)
    for (const effect of effects) effect()
    jobs.forEach((job, index) => {
      settle(job, outcomes[index]!)
    })
    return true
  }

  /** Callers try again for as long as it takes; somebody has to hear why nothing moves. */
  #saySpace(isFull: boolean): void {
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    const directory = this.#directory
    if (isFull)
      this.#logger.error({ directory }, 'the disk of the data directory is full: writes wait until there is space')
    else this.#logger.warn({ directory }, 'the disk of the data directory has space again: writes go on')
  }
}

function attempt(job: Job, change: Change): Outcome {
  try {
    return { value: job.run(change) }
  } catch (error) {
    if (error instanceof BrokerError) return { error }
    throw error
  }
}

function settle(job: Job, outcome: Outcome): void {
  if ('error' in outcome) job.reject(outcome.error)
  else job.resolve(outcome.value as never)
}
