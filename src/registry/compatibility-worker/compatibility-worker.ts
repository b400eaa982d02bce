import { type ChildProcess, fork } from 'node:child_process'
import { entryPoint } from '../../common/program-files.ts'
import { RegistryError } from '../model/registry-error.ts'
import type { WorkerJob, WorkerJobOutcome, WorkerJobRequest } from './worker-job.ts'

/** A job that exceeds the time or heap limit is rejected. Only a malicious schema is expected to exceed them. */
const LIMIT_MS = 5_000
const HEAP_MEGABYTES_MAX = 256
const WAITING_MAX = 100
/** Added to the job's limit, for the start of the process and for its own report of a timeout. */
const GRACE_MS = 5_000
const IDLE_MS = 60_000

export type CompatibilityWorkerOptions = { readonly limitMs?: number; readonly waitingMax?: number }

type Waiting = { readonly job: WorkerJob; readonly settle: (outcome: WorkerJobOutcome | Error) => void }

/**
 * Runs jobs that would block other requests: one at a time, each with a limit of time and memory. It uses a child
 * process and not a thread, because a thread that runs out of memory terminates the whole process. The first job starts
 * the process; it ends after 60 seconds without jobs.
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

  /** Rejects with `too_many_checks` if too many jobs are waiting, or when the worker is closed. */
  run(job: WorkerJob): Promise<WorkerJobOutcome> {
    if (this.#closed) return Promise.reject(stoppingError())
    if (this.#waiting.length >= this.#waitingMax) {
      return Promise.reject(
        new RegistryError('too_many_checks', 'too many requests with large schemas are waiting: retry later'),
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
    for (const { settle } of this.#waiting.splice(0)) settle(stoppingError())
    this.#end(stoppingError())
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
    const request: WorkerJobRequest = { number: this.#number, job: waiting.job, limitMs: this.#limitMs }
    // A failed `send` is ignored: the `exit` event settles the job.
    this.#process.send(request, () => undefined)
    const timedOut = { invalid: `too complex: not processed within ${this.#limitMs} ms` }
    this.#timer = setTimeout(() => this.#end(timedOut), this.#limitMs + GRACE_MS)
  }

  #start(): ChildProcess {
    const child = fork(entryPoint('registry/compatibility-worker/compatibility-worker-process'), {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MEGABYTES_MAX}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // The child process does not keep this process alive.
    child.unref()
    child.channel?.unref()
    child.on('message', ({ number, outcome }: { number: number; outcome: WorkerJobOutcome }) => {
      if (number === this.#number) this.#settle(outcome)
    })
    child.on('exit', () => {
      if (child === this.#process) this.#end({ invalid: `too complex: it needs more than ${HEAP_MEGABYTES_MAX} MB` })
    })
    child.on('error', (error) => {
      if (child === this.#process) this.#end(error)
    })
    return child
  }

  /** Kills the process and settles the current job. The next job starts a new process. */
  #end(outcome: WorkerJobOutcome | Error = stoppingError()): void {
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

function stoppingError(): RegistryError {
  return new RegistryError('too_many_checks', 'the registry is stopping')
}
