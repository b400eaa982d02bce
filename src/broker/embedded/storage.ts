import type { StatementSync } from 'node:sqlite'
import { messageOf } from '../../common/errors.ts'
import type { Logger } from '../../common/logging/logger.ts'
import type { DataFsync } from '../broker-address.ts'
import { BrokerError } from '../broker-error.ts'
import { type DataDirectory, openDataDirectory, toStorageError } from './data-directory.ts'
import { dataFilesOf } from './data-files.ts'

/** Hooks of the transaction in which a job runs. */
export interface WriteTransaction {
  /** Runs after the commit, for example to wake waiting readers. */
  onCommit(effect: () => void): void
  /** Reverts in-memory changes of the job; called in reverse order. */
  onRollback(undo: () => void): void
  /** Records the new end offset of a partition in `broker.check` after the commit. */
  recordEndOffset(partitionId: number, endOffset: number): void
  /**
   * Schedules a checkpoint after a change of topics: at the latest with the next commit of records, before they are
   * acknowledged. So if the write-ahead log is lost, the database still names the topics of the missing records.
   */
  checkpointTopics(): void
}

type Job = {
  readonly run: (change: WriteTransaction) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly value: unknown } | { readonly error: BrokerError }

/** Maximum number of queued jobs; more means that a caller does not wait for responses. */
const JOBS_WAITING_MAX = 100_000

/**
 * The database with its single writer. The writes of one turn of the event loop share a transaction (group commit).
 * Reads see committed data only, because a transaction runs synchronously.
 */
export class Storage {
  readonly #directory: string
  readonly #data: DataDirectory
  readonly #statements = new Map<string, StatementSync>()
  readonly #logger: Logger
  #waiting: Job[] = []
  /** A job that has to be stored before or with any other. */
  #first: ((change: WriteTransaction) => unknown) | undefined
  #open = true
  #isFull = false
  /** Whether topics were changed since the last checkpoint. */
  #hasTopicChanges = false

  constructor(
    directory: string,
    {
      nowMs,
      logger,
      fsync = 'checkpoint',
    }: { readonly nowMs: number; readonly logger: Logger; readonly fsync?: DataFsync },
  ) {
    this.#directory = directory
    this.#logger = logger
    this.#data = openDataDirectory(directory, { nowMs, fsync })
  }

  /** Caches prepared statements by their SQL, so the number of distinct statements must be small. */
  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.guarded(() => this.#data.sqlite.prepare(sql))
    this.#statements.set(sql, statement)
    return statement
  }

  /** Runs a read and converts disk errors to `BrokerError`s. */
  guarded<T>(read: () => T): T {
    try {
      return read()
    } catch (error) {
      throw toStorageError(error, this.#directory)
    }
  }

  /**
   * Runs a job in the transaction of this turn and resolves after the commit. A job either changes something or throws
   * a `BrokerError`, never both, so a rejected job does not affect the others. If the shared transaction fails, each
   * job runs again in its own.
   */
  write<T>(run: (change: WriteTransaction) => T): Promise<T> {
    if (!this.#open) return Promise.reject(new BrokerError('closed', 'the embedded broker is closed'))
    if (this.#waiting.length >= JOBS_WAITING_MAX) {
      return Promise.reject(new BrokerError('unavailable', `${JOBS_WAITING_MAX} writes are queued: wait for responses`))
    }
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush())
      this.#waiting.push({ run, resolve, reject })
    })
  }

  /** Runs a job in the first transaction that can be committed: now, or on a full disk as soon as there is space. */
  async writeFirst(run: (change: WriteTransaction) => unknown): Promise<void> {
    this.#first = run
    await this.write(() => undefined).catch((error: unknown) => {
      if (!(error instanceof BrokerError && error.code === 'disk_full')) throw error
    })
  }

  /**
   * Commits the queued jobs now. If the shared transaction fails, each job is retried alone, so that only the failing
   * ones are rejected.
   */
  flush(): void {
    const jobs = this.#waiting
    this.#waiting = []
    if (jobs.length === 0 || this.#commit(jobs)) return
    for (const job of jobs) this.#commit([job], job.reject)
  }

  /** Runs periodically. */
  runMaintenance(): void {
    if (!this.#open) return
    if (this.#hasTopicChanges) this.#checkpoint()
    this.#data.check?.sync()
  }

  close(): void {
    if (!this.#open) return
    this.flush()
    this.#open = false
    this.#statements.clear()
    if (!this.#data.close())
      this.#logger.warn({ directory: this.#directory }, 'the write-ahead log is kept for the next start')
  }

  /** Returns whether the jobs are committed; `failed` receives the error. */
  #commit(jobs: readonly Job[], failed?: (error: unknown) => void): boolean {
    const effects: (() => void)[] = []
    const undos: (() => void)[] = []
    const ends = new Map<number, number>()
    const change: WriteTransaction = {
      onCommit: (effect) => effects.push(effect),
      onRollback: (undo) => undos.push(undo),
      recordEndOffset: (partitionId, endOffset) => ends.set(partitionId, endOffset),
      checkpointTopics: () => {
        this.#hasTopicChanges = true
      },
    }
    const { sqlite } = this.#data
    let outcomes: readonly Outcome[]
    let commit: number | undefined
    try {
      const changesBefore = this.#countChanges()
      sqlite.exec('begin')
      this.#first?.(change)
      outcomes = jobs.map((job) => attempt(job, change))
      commit = this.#countCommit(changesBefore)
      sqlite.exec('commit')
    } catch (error) {
      if (sqlite.isTransaction) sqlite.exec('rollback')
      for (const undo of undos.reverse()) undo()
      const reason = toStorageError(error, this.#directory)
      failed?.(reason)
      this.#logDiskSpace(reason instanceof BrokerError && reason.code === 'disk_full')
      return false
    }
    this.#first = undefined
    this.#logDiskSpace(false)
    const unnoted = commit === undefined ? undefined : this.#acknowledge(commit, ends)
    if (this.#hasTopicChanges && ends.size > 0) this.#checkpoint()
    for (const effect of effects) effect()
    jobs.forEach((job, index) => {
      settle(job, unnoted === undefined ? outcomes[index]! : { error: unnoted })
    })
    return true
  }

  /** The rows changed since this database was opened. */
  #countChanges(): number {
    return Number(this.prepare('select total_changes() as count').get()!['count'])
  }

  /** The number of this commit, or undefined if it changes nothing. */
  #countCommit(changesBefore: number): number | undefined {
    if (this.#countChanges() === changesBefore) return undefined
    const counted = this.prepare("update checksums set value = value + 1 where name = 'commit' returning value").get()!
    return Number(counted['value'])
  }

  /** Writes that are committed but not recorded in `broker.check` are not acknowledged: callers have to retry. */
  #acknowledge(commit: number, ends: ReadonlyMap<number, number>): BrokerError | undefined {
    try {
      this.#data.check?.acknowledge(commit, ends)
      return undefined
    } catch (error) {
      return new BrokerError(
        'unavailable',
        `${dataFilesOf(this.#directory).check} cannot be written: ${messageOf(error)}`,
      )
    }
  }

  #checkpoint(): void {
    this.#hasTopicChanges = false
    try {
      this.#data.sqlite.prepare('pragma wal_checkpoint(passive)').get()
    } catch (error) {
      const reason = messageOf(toStorageError(error, this.#directory))
      this.#logger.warn({ directory: this.#directory, reason }, 'cannot checkpoint the write-ahead log')
    }
  }

  /** Callers retry for a long time, so the reason is logged. */
  #logDiskSpace(isFull: boolean): void {
    if (isFull === this.#isFull) return
    this.#isFull = isFull
    const directory = this.#directory
    if (isFull)
      this.#logger.error(
        { directory },
        'the disk of the data directory is full: writes are delayed until there is space',
      )
    else this.#logger.warn({ directory }, 'the disk of the data directory has space again: writes continue')
  }
}

function attempt(job: Job, change: WriteTransaction): Outcome {
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
