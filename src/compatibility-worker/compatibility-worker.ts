import { type ChildProcess, fork } from 'node:child_process'
import { entryPoint } from '../common/program-files.ts'
import type { WorkerJob, WorkerJobOutcome, WorkerJobRequest, WorkerJobResponse } from './worker-job.ts'

/** A job that exceeds the time or heap limit is rejected. Only a malicious schema is expected to exceed them. */
const LIMIT_MS = 5_000
const HEAP_MEGABYTES_MAX = 256
const WAITING_MAX = 100
/** Added to the job's limit, for the start of the process and for its own report of a timeout. */
const GRACE_MS = 5_000
const IDLE_MS = 60_000

export type CompatibilityWorkerOptions = { readonly limitMs?: number; readonly waitingMax?: number }

type Outcomes = readonly WorkerJobOutcome[]
type Waiting = { readonly jobs: readonly WorkerJob[]; readonly settle: (outcomes: Outcomes | Error) => void }

/** The worker has too many jobs, or is closed. A later request may succeed. */
export class CompatibilityWorkerBusyError extends Error {}

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

  /** Runs one job. Rejects with the same errors as `runSome`. */
  async run(job: WorkerJob): Promise<WorkerJobOutcome> {
    return firstOf(await this.runSome([job]))
  }

  /**
   * Runs the first job and as many of the others as there is time for. Resolves to their outcomes, in order. Rejects with a
   * `CompatibilityWorkerBusyError` if too many requests are waiting, or when the worker is closed.
   */
  runSome(jobs: readonly WorkerJob[]): Promise<Outcomes> {
    if (this.#closed) return Promise.reject(stoppingError())
    if (this.#waiting.length >= this.#waitingMax) {
      return Promise.reject(
        new CompatibilityWorkerBusyError('too many requests with large schemas are waiting: retry later'),
      )
    }
    return new Promise((resolve, reject) => {
      const settle = (outcomes: Outcomes | Error) => (outcomes instanceof Error ? reject(outcomes) : resolve(outcomes))
      this.#waiting.push({ jobs, settle })
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
    const request: WorkerJobRequest = { number: this.#number, jobs: waiting.jobs, limitMs: this.#limitMs }
    // A failed `send` is ignored: the `exit` event settles the job.
    this.#process.send(request, () => undefined)
    const timedOut = { invalid: `too complex: not processed within ${this.#limitMs} ms` }
    this.#timer = setTimeout(() => this.#end(timedOut), this.#limitMs + GRACE_MS)
  }

  #start(): ChildProcess {
    const child = fork(entryPoint('compatibility-worker/compatibility-worker-process'), {
      serialization: 'advanced',
      execArgv: [`--max-old-space-size=${HEAP_MEGABYTES_MAX}`],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // The child process does not keep this process alive.
    child.unref()
    child.channel?.unref()
    child.on('message', ({ number, outcomes }: WorkerJobResponse) => {
      if (number === this.#number) this.#settle(outcomes)
    })
    child.on('exit', () => {
      if (child === this.#process) this.#end({ invalid: `too complex: it needs more than ${HEAP_MEGABYTES_MAX} MB` })
    })
    child.on('error', (error) => {
      if (child === this.#process) this.#end(error)
    })
    return child
  }

  /**
   * Kills the process and settles the current request. The next one starts a new process. Which of several jobs has the
   * outcome is not known, so the first one is run again, alone.
   */
  #end(outcome: WorkerJobOutcome | Error = stoppingError()): void {
    const ended = this.#process
    this.#process = undefined
    ended?.kill('SIGKILL')
    const { jobs = [], settle } = this.#current ?? {}
    if (settle && jobs.length > 1 && !(outcome instanceof Error)) {
      this.#waiting.unshift({ jobs: jobs.slice(0, 1), settle })
      this.#current = undefined
      this.#next()
    } else this.#settle(outcome instanceof Error ? outcome : [outcome])
  }

  #settle(outcomes: Outcomes | Error): void {
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    current?.settle(outcomes)
    if (!this.#closed) this.#next()
  }
}

function firstOf(outcomes: Outcomes): WorkerJobOutcome {
  const [outcome] = outcomes
  if (!outcome) throw new Error('the compatibility worker returned no outcome')
  return outcome
}

function stoppingError(): CompatibilityWorkerBusyError {
  return new CompatibilityWorkerBusyError('the program is stopping')
}
