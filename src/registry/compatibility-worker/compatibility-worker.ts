import { type ChildProcess, fork } from 'node:child_process'
import { RegistryError } from '../model/registry-error.ts'
import type { WorkerJob, WorkerJobOutcome, WorkerJobRequest } from './worker-job.ts'

const ENTRY = new URL(
  `./compatibility-worker-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`,
  import.meta.url,
)
/** A schema that takes longer, or more memory, is refused: nobody's schema does, but an attacker's. */
const LIMIT_MS = 5_000
const HEAP_MEGABYTES_MAX = 256
const WAITING_MAX = 100
/** For the process to start, and to say itself that a job took too long. */
const GRACE_MS = 5_000
const IDLE_MS = 60_000

export type CompatibilityWorkerOptions = { readonly limitMs?: number; readonly waitingMax?: number }

type Waiting = { readonly job: WorkerJob; readonly settle: (outcome: WorkerJobOutcome | Error) => void }

/**
 * Examines what would hold up everybody else: one job after the other, each within limits of time and memory. It does so
 * in a process, because a thread that is out of memory takes all of its process along. That is started by the first job
 * and ends when there is none for a while.
 */
export class CompatibilityWorker {
  readonly #limitMs: number
  readonly #waitingMax: number
  readonly #waiting: Waiting[] = []
  #current: Waiting | undefined
  #process: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #number = 0
  #closed = false

  constructor({ limitMs = LIMIT_MS, waitingMax = WAITING_MAX }: CompatibilityWorkerOptions = {}) {
    this.#limitMs = limitMs
    this.#waitingMax = waitingMax
  }

  /** Rejects with `too_many_checks` when too many wait. */
  run(job: WorkerJob): Promise<WorkerJobOutcome> {
    if (this.#closed) return Promise.reject(stopping())
    if (this.#waiting.length >= this.#waitingMax) {
      return Promise.reject(
        new RegistryError('too_many_checks', 'too many large requests are waiting: try again later'),
      )
    }
    return new Promise((resolve, reject) => {
      const settle = (outcome: WorkerJobOutcome | Error) =>
        outcome instanceof Error ? reject(outcome) : resolve(outcome)
      this.#waiting.push({ job, settle })
      this.#next()
    })
  }

  close(): void {
    this.#closed = true
    for (const { settle } of this.#waiting.splice(0)) settle(stopping())
    this.#end(stopping())
  }

  #next(): void {
    if (this.#current) return
    const waiting = this.#waiting.shift()
    clearTimeout(this.#timer)
    if (!waiting) {
      this.#timer = setTimeout(() => this.#end(), IDLE_MS).unref()
      return
    }
    this.#current = waiting
    this.#number += 1
    this.#process ??= this.#start()
    const errand: WorkerJobRequest = { number: this.#number, job: waiting.job, limitMs: this.#limitMs }
    // A process that is gone answers by its exit.
    this.#process.send(errand, () => undefined)
    const tooLong = { wrong: `too complex: not examined within ${this.#limitMs} ms` }
    this.#timer = setTimeout(() => this.#end(tooLong), this.#limitMs + GRACE_MS)
  }

  #start(): ChildProcess {
    const started = fork(ENTRY, {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MEGABYTES_MAX}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // It does not keep this process alive.
    started.unref()
    started.channel?.unref()
    started.on('message', ({ number, outcome }: { number: number; outcome: WorkerJobOutcome }) => {
      if (number === this.#number) this.#settle(outcome)
    })
    started.on('exit', () => {
      if (started === this.#process) this.#end({ wrong: `too complex: it needs more than ${HEAP_MEGABYTES_MAX} MB` })
    })
    started.on('error', (error) => {
      if (started === this.#process) this.#end(error)
    })
    return started
  }

  /** The process goes, and its job is answered; the next job starts another one. */
  #end(outcome: WorkerJobOutcome | Error = stopping()): void {
    const ended = this.#process
    this.#process = undefined
    ended?.kill('SIGKILL')
    this.#settle(outcome)
  }

  #settle(outcome: WorkerJobOutcome | Error): void {
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    current?.settle(outcome)
    if (!this.#closed) this.#next()
  }
}

function stopping(): RegistryError {
  return new RegistryError('too_many_checks', 'the registry is stopping')
}
