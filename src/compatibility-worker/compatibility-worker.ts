import { type ChildProcess, fork } from 'node:child_process'
import { commandWithParent } from '../common/command-with-parent.ts'
import { entryPoint } from '../common/program-files.ts'
import { Semaphore } from '../common/semaphore.ts'
import type { WorkerJob, WorkerJobOutcome, WorkerJobRequest, WorkerJobResponse } from './worker-job.ts'

/** CPU time. A job that exceeds the limit of CPU time or heap is rejected. Only a malicious schema is expected to exceed them. */
const LIMIT_MS = 5_000
const HEAP_MEGABYTES_MAX = 256
const WAITING_MAX = 100
/** The signals with which V8 ends a process without memory, on the platforms of Node.js, and with which the kernel does. */
const OUT_OF_MEMORY: ReadonlySet<NodeJS.Signals> = new Set(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGKILL'])
/** Elapsed time. A process that has not answered by then is replaced; its job is not rejected, but can be retried. */
const UNANSWERED_MS = 120_000
const IDLE_MS = 60_000

/** `limitMs`: maximum CPU time of a job. `waitingMax`: maximum number of jobs that wait. */
export type CompatibilityWorkerOptions = { readonly limitMs?: number; readonly waitingMax?: number }

/** The worker has too many jobs, does not answer, or is closed. A later request may succeed. */
export class CompatibilityWorkerBusyError extends Error {}

/**
 * Runs jobs that would block other requests: one at a time, each with a limit of CPU time and memory. It uses a child
 * process and not a thread, because a thread that runs out of memory terminates the whole process. The first job starts
 * the process; it ends after 60 seconds without jobs.
 */
export class CompatibilityWorker {
  readonly #limitMs: number
  readonly #turns: Semaphore
  #current: PromiseWithResolvers<WorkerJobOutcome | undefined> | undefined
  #process: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #number = 0
  #closed = false

  constructor({ limitMs = LIMIT_MS, waitingMax = WAITING_MAX }: CompatibilityWorkerOptions = {}) {
    this.#limitMs = limitMs
    const full = () =>
      new CompatibilityWorkerBusyError(`${waitingMax} checks of large schemas are waiting for others: retry later`)
    this.#turns = new Semaphore(1, { waitingMax, full })
  }

  /** Runs a job. Rejects with a `CompatibilityWorkerBusyError`. */
  run(job: WorkerJob): Promise<WorkerJobOutcome> {
    return this.#turns.run(() => this.#execute(job))
  }

  close(): void {
    this.#closed = true
    this.#end(stoppingError())
  }

  async #execute(job: WorkerJob): Promise<WorkerJobOutcome> {
    // On a machine without a free processor, a job uses less CPU time than its limit in as much elapsed time.
    for (let elapsedMsMax = this.#limitMs; ; elapsedMsMax *= 2) {
      const outcome = await this.#attempt(job, elapsedMsMax)
      if (outcome) return outcome
    }
  }

  /** Returns undefined if the job was interrupted before it had its CPU time. */
  #attempt(job: WorkerJob, elapsedMsMax: number): Promise<WorkerJobOutcome | undefined> {
    if (this.#closed) throw stoppingError()
    clearTimeout(this.#timer)
    const current = Promise.withResolvers<WorkerJobOutcome | undefined>()
    this.#current = current
    this.#number += 1
    this.#process ??= this.#start()
    const request: WorkerJobRequest = { number: this.#number, job, cpuMsMax: this.#limitMs, elapsedMsMax }
    // A failed `send` is ignored: the `exit` event settles the job.
    this.#process.send(request, () => undefined)
    const unanswered = new CompatibilityWorkerBusyError(
      `the process that checks large schemas has not answered within ${UNANSWERED_MS} ms: retry later`,
    )
    this.#timer = setTimeout(() => this.#end(unanswered), UNANSWERED_MS)
    return current.promise
  }

  #start(): ChildProcess {
    const node = commandWithParent(process.execPath, [`--max-old-space-size=${HEAP_MEGABYTES_MAX}`])
    const child = fork(entryPoint('compatibility-worker/compatibility-worker-process'), {
      serialization: 'advanced',
      execPath: node.file,
      execArgv: node.args,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    // The child process does not keep this process alive.
    child.unref()
    child.channel?.unref()
    child.on('message', (response: WorkerJobResponse) => {
      if (response.number !== this.#number || child !== this.#process) return
      if ('outcome' in response) this.#settle(response.outcome)
      else this.#end(response.interrupted)
    })
    child.on('exit', (code, signal) => {
      if (child !== this.#process) return
      const tooLarge = {
        invalid: `too complex: it needs more than ${HEAP_MEGABYTES_MAX} MB of memory`,
        isLimit: true,
      } as const
      const failed = new Error(`the process that checks large schemas ended with ${signal ?? `exit code ${code}`}`)
      this.#end(signal !== null && OUT_OF_MEMORY.has(signal) ? tooLarge : failed)
    })
    child.on('error', (error) => {
      if (child === this.#process) this.#end(error)
    })
    return child
  }

  /** Kills the process and settles the current job, if there is one. The next one starts a new process. */
  #end(outcome: WorkerJobOutcome | undefined | Error): void {
    const ended = this.#process
    this.#process = undefined
    ended?.kill('SIGKILL')
    this.#settle(outcome)
  }

  #settle(outcome: WorkerJobOutcome | undefined | Error): void {
    clearTimeout(this.#timer)
    const current = this.#current
    this.#current = undefined
    if (outcome instanceof Error) current?.reject(outcome)
    else current?.resolve(outcome)
    if (this.#process !== undefined) this.#timer = setTimeout(() => this.#end(stoppingError()), IDLE_MS).unref()
  }
}

function stoppingError(): CompatibilityWorkerBusyError {
  return new CompatibilityWorkerBusyError('the program is stopping')
}
