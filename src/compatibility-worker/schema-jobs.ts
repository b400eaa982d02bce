import type { FormatType } from '../formats/format.ts'
import { SchemaError } from '../formats/schema-error.ts'
import type { CompatibilityWorker } from './compatibility-worker.ts'
import type { ResultOf, SchemaJob, WorkerJobOutcome } from './worker-job.ts'

/** A completed operation on one or several schemas, such as parsing or comparing. */
export type SchemaOperation = {
  readonly type: FormatType
  readonly operation: SchemaJob['op']
  readonly ms: number
  readonly failed: boolean
}

export type SchemaJobsOptions = {
  readonly worker: Pick<CompatibilityWorker, 'run'>
  /** Called after every operation, in the worker or in this process. */
  readonly onOperation?: (operation: SchemaOperation) => void
  /** A monotonic time, which measures operations. */
  readonly nowMs?: () => number
}

/** Runs operations on schemas and reports their durations. */
export class SchemaJobs {
  readonly #worker: SchemaJobsOptions['worker']
  readonly #onOperation: (operation: SchemaOperation) => void
  readonly nowMs: () => number

  constructor({ worker, onOperation = () => {}, nowMs = () => performance.now() }: SchemaJobsOptions) {
    this.#worker = worker
    this.#onOperation = onOperation
    this.nowMs = nowMs
  }

  /** Runs a job in the worker. Rejects with a `SchemaError`, and with a `CompatibilityWorkerBusyError`. */
  async run<Op extends SchemaJob['op']>(job: SchemaJob & { readonly op: Op }): Promise<ResultOf<Op>> {
    return resultOf(await this.outcomeOf<Op>(job))
  }

  /** Runs a job in the worker. Rejects with a `CompatibilityWorkerBusyError`. */
  async outcomeOf<Op extends SchemaJob['op']>(job: SchemaJob & { readonly op: Op }): Promise<WorkerJobOutcome<Op>> {
    const startMs = this.nowMs()
    const outcome = (await this.#worker.run(job)) as WorkerJobOutcome<Op>
    const ms = this.nowMs() - startMs
    this.#onOperation({ type: job.schema.type, operation: job.op, ms, failed: 'invalid' in outcome })
    return outcome
  }

  /** Runs a small operation in this process. */
  timed<Result>(operation: SchemaJob['op'], type: FormatType, act: () => Result): Result {
    const startMs = this.nowMs()
    let failed = true
    try {
      const result = act()
      failed = false
      return result
    } finally {
      this.#onOperation({ type, operation, ms: this.nowMs() - startMs, failed })
    }
  }
}

/** Throws a `SchemaError` for invalid input. */
export function resultOf<Op extends SchemaJob['op']>(outcome: WorkerJobOutcome<Op>): ResultOf<Op> {
  if ('invalid' in outcome) throw new SchemaError(outcome.invalid)
  return outcome.result
}
