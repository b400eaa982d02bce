import type { StatementSync } from 'node:sqlite'
import { messageOf } from '../../config/errors.ts'
import type { Logger } from '../../config/logger.ts'
import type { DataFsync } from '../broker-address.ts'
import { BrokerError } from '../error.ts'
import { damageError } from './damage.ts'
import { type DataDirectory, openDataDirectory, startLog, toStorageError } from './data-directory.ts'
import { dataFilesOf } from './files.ts'
import { pageFault } from './inspection.ts'

/** What a job may hang on the transaction it runs in. */
export interface WriteTransaction {
  /** Runs when it is stored: wake those who wait. */
  onCommit(effect: () => void): void
  /** Takes back what the job changed in memory; the last one first. */
  onRollback(undo: () => void): void
  /** The end of a partition is now there: noted apart from the data when it is stored. */
  moveEnd(partitionId: number, endOffset: number): void
  /** Topics changed: they go into the database soon, so that records keep their names when the log is lost. */
  checkpointSoon(): void
}

type Job = {
  readonly run: (change: WriteTransaction) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

type Outcome = { readonly value: unknown } | { readonly error: BrokerError }

/** Pages that are compared with their checksums in one turn of the event loop: a few milliseconds' work. */
const PAGES_AT_ONCE = 128

/** Jobs that may wait for one turn of the event loop; more is a caller that does not wait for its answers. */
const JOBS_WAITING_MAX = 100_000

/**
 * The database and its one writer. Writes of one turn of the event loop share one transaction (group commit), so many
 * small ones cost what one does. Reads see only what is committed, because a transaction begins and ends in one go.
 */
export class Storage {
  readonly #directory: string
  readonly #data: DataDirectory
  readonly #statements = new Map<string, StatementSync>()
  readonly #logger: Logger
  readonly #openedMs: number
  #waiting: Job[] = []
  /** What has to be stored before, or with, anything else. */
  #first: ((change: WriteTransaction) => unknown) | undefined
  #open = true
  #isFull = false
  /** Set once the data was found to be damaged: nothing is read or written from then on. */
  #damage: BrokerError | undefined
  /** Pages up to this one were compared with their checksums, in this round. */
  #pagesChecked: number
  #wantsCheckpoint = false

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
    this.#openedMs = nowMs
    this.#data = openDataDirectory(directory, { nowMs, fsync })
    this.#pagesChecked = this.#data.pagesChecked
  }

  /** A prepared statement, the same for the same text: so the texts must be few. */
  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.guarded(() => this.#data.sqlite.prepare(sql))
    this.#statements.set(sql, statement)
    return statement
  }

  /** Reads, with failures of the disk as `BrokerError`s. */
  guarded<T>(read: () => T): T {
    if (this.#damage !== undefined) throw this.#damage
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
  write<T>(run: (change: WriteTransaction) => T): Promise<T> {
    if (!this.#open) return Promise.reject(new BrokerError('closed', 'the embedded broker is closed'))
    if (this.#damage !== undefined) return Promise.reject(this.#damage)
    if (this.#waiting.length >= JOBS_WAITING_MAX) {
      return Promise.reject(new BrokerError('unavailable', `${JOBS_WAITING_MAX} writes wait already: wait for answers`))
    }
    return new Promise<T>((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush())
      this.#waiting.push({ run, resolve, reject })
    })
  }

  /** Runs a job as part of the first transaction that can be stored: at once, or on a full disk as soon as there is space. */
  async writeFirst(run: (change: WriteTransaction) => unknown): Promise<void> {
    this.#first = run
    await this.write(() => undefined).catch((error: unknown) => {
      if (!(error instanceof BrokerError && error.code === 'disk_full')) throw error
    })
  }

  /** Stores what waits, now. When a shared transaction fails, each job is tried alone, so that only the guilty fail. */
  flush(): void {
    const jobs = this.#waiting
    this.#waiting = []
    if (jobs.length === 0 || this.#commit(jobs)) return
    for (const job of jobs) this.#commit([job], job.reject)
  }

  /** What is done from time to time. */
  runMaintenance(): void {
    if (this.#wantsCheckpoint && this.#open) this.#checkpoint()
    try {
      this.#checkSomePages()
    } catch (error) {
      this.#logger.warn({ err: error, directory: this.#directory }, 'the data can not be compared with its checksums')
    }
  }

  /**
   * Compares some pages of the database file with their checksums, the next ones at the next call, round after round.
   * Damage is final: every call fails with it from then on.
   */
  #checkSomePages(): void {
    const { check } = this.#data
    if (check === undefined || !this.#open || this.#damage !== undefined) return
    if (this.#pagesChecked >= check.pages) this.#pagesChecked = 0
    const [damaged] = this.guarded(() => check.damagedPages(this.#pagesChecked + 1, this.#pagesChecked + PAGES_AT_ONCE))
    this.#pagesChecked += PAGES_AT_ONCE
    if (damaged === undefined) return
    const files = dataFilesOf(this.#directory)
    this.#damage = damageError(files, { faults: [pageFault(files, damaged)] })
    this.#logger.error({ err: this.#damage }, 'the data directory is damaged: nothing is read or written any more')
  }

  close(): void {
    if (!this.#open) return
    this.flush()
    this.#open = false
    try {
      this.#data.close()
    } catch (error) {
      const reason = messageOf(toStorageError(error, this.#directory))
      this.#logger.warn({ directory: this.#directory, reason }, 'the write-ahead log stays for the next start')
    }
  }

  /** Answers whether the jobs are stored; `failed` hears why not. */
  #commit(jobs: readonly Job[], failed?: (error: unknown) => void): boolean {
    const effects: (() => void)[] = []
    const undos: (() => void)[] = []
    const ends = new Map<number, number>()
    const change: WriteTransaction = {
      onCommit: (effect) => effects.push(effect),
      onRollback: (undo) => undos.push(undo),
      moveEnd: (partitionId, endOffset) => ends.set(partitionId, endOffset),
      checkpointSoon: () => {
        this.#wantsCheckpoint = true
      },
    }
    const { sqlite, check } = this.#data
    let outcomes: readonly Outcome[]
    try {
      if (check !== undefined) startLog(sqlite, check, this.#openedMs)
      sqlite.exec('begin')
      this.#first?.(change)
      outcomes = jobs.map((job) => attempt(job, change))
      sqlite.exec('commit')
    } catch (error) {
      if (sqlite.isTransaction) sqlite.exec('rollback')
      check?.doubtWal()
      for (const undo of undos.reverse()) undo()
      const reason = toStorageError(error, this.#directory)
      failed?.(reason)
      this.#saySpace(reason instanceof BrokerError && reason.code === 'disk_full')
      return false
    }
    this.#first = undefined
    this.#saySpace(false)
    const unnoted = this.#note(ends)
    for (const effect of effects) effect()
    jobs.forEach((job, index) => {
      settle(job, unnoted === undefined ? outcomes[index]! : { error: unnoted })
    })
    if (check?.wantsCheckpoint) this.#checkpoint()
    return true
  }

  /** What is stored but could not be noted is not acknowledged: whoever asked has to ask again. */
  #note(ends: ReadonlyMap<number, number>): BrokerError | undefined {
    try {
      this.#data.check?.acknowledge(ends)
      return undefined
    } catch (error) {
      return new BrokerError(
        'unavailable',
        `${dataFilesOf(this.#directory).check} can't be written: ${messageOf(error)}`,
      )
    }
  }

  #checkpoint(): void {
    this.#wantsCheckpoint = false
    try {
      this.#data.check?.checkpoint()
    } catch (error) {
      const reason = messageOf(toStorageError(error, this.#directory))
      this.#logger.warn(
        { directory: this.#directory, reason },
        'the write-ahead log could not be moved into the database',
      )
    }
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
