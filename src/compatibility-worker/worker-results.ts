import { createHash } from 'node:crypto'
import type { FormatType } from '../formats/format.ts'
import type { CompatibilityWorker } from './compatibility-worker.ts'
import { charactersOf } from './in-process-limits.ts'
import type { UnparsedSchema, WorkerJob, WorkerJobOutcome } from './worker-job.ts'

/** A check of many schemas gives way to other requests after this time. */
const TURN_MS = 10
/** Limits for the jobs of one request to the worker. Characters are those of all schemas of the jobs. */
const JOBS_MAX = 64
const JOB_CHARACTERS_MAX = 1_000_000

export type SchemaJob = Exclude<WorkerJob, { op: 'body' }>

/** A completed operation on a schema, such as parsing it. */
export type SchemaOperation = {
  readonly type: FormatType
  readonly operation: SchemaJob['op']
  readonly ms: number
  readonly failed: boolean
}

/** Thrown by code that needs the results of jobs, or has run for its time. `repeatWithResults` calls it again. */
export class IncompleteCheck extends Error {
  /** Empty: the code only has to be called again. */
  readonly jobs: readonly SchemaJob[]

  constructor(jobs: readonly SchemaJob[]) {
    super('the check is not complete yet')
    this.jobs = jobs
  }
}

/**
 * Calls `act` until it does not throw an `IncompleteCheck`, and runs the missing jobs in between. So `act` can be a pure
 * function of the state, and other requests do not wait for it. Rejects with a `CompatibilityWorkerBusyError`.
 */
export async function repeatWithResults<Result>(
  act: () => Result | Promise<Result>,
  results: WorkerResults,
  worker: Pick<CompatibilityWorker, 'runSome'>,
): Promise<Result> {
  for (;;) {
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof IncompleteCheck)) throw error
      if (error.jobs.length > 0) await results.find(error.jobs, worker)
      else await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

/** The results of the compatibility worker for one request. */
export class WorkerResults {
  readonly #onSchemaOperation: (operation: SchemaOperation) => void
  readonly #nowMs: () => number
  readonly #outcomes = new Map<string, WorkerJobOutcome>()
  readonly #schemaKeys = new WeakMap<UnparsedSchema, string>()
  /** By check: the keys of the items that `findInTurns` has tested without a result. */
  readonly #tested = new Map<string, Set<string>>()

  /** `onSchemaOperation` is called for every operation, in the worker or in this process. `nowMs` measures them. */
  constructor(onSchemaOperation: (operation: SchemaOperation) => void, nowMs: () => number) {
    this.#onSchemaOperation = onSchemaOperation
    this.#nowMs = nowMs
  }

  /** Runs jobs in the compatibility worker, and stores the outcomes of those that were run. */
  async find(jobs: readonly SchemaJob[], worker: Pick<CompatibilityWorker, 'runSome'>): Promise<void> {
    const startMs = this.#nowMs()
    const outcomes = await worker.runSome(jobs)
    const meanMs = (this.#nowMs() - startMs) / outcomes.length
    for (const [at, outcome] of outcomes.entries()) {
      const job = jobs[at]
      if (!job) continue
      this.#outcomes.set(this.#keyOf(job), outcome)
      this.#onSchemaOperation({ type: typeOf(job), operation: job.op, ms: meanMs, failed: 'invalid' in outcome })
    }
  }

  /** Runs a small operation in this process and reports its duration. */
  timed<Result>(operation: SchemaJob['op'], type: FormatType, act: () => Result): Result {
    const startMs = this.#nowMs()
    let failed = true
    try {
      const result = act()
      failed = false
      return result
    } finally {
      this.#onSchemaOperation({ type, operation, ms: this.#nowMs() - startMs, failed })
    }
  }

  /** Returns the outcome of a job. Throws `IncompleteCheck` if the job was not run yet. */
  get<Op extends SchemaJob['op']>(job: SchemaJob & { readonly op: Op }): WorkerJobOutcome<Op> {
    const outcome = this.#outcomes.get(this.#keyOf(job))
    if (!outcome) throw new IncompleteCheck([job])
    return outcome as WorkerJobOutcome<Op>
  }

  /**
   * Returns the first result of `test` that is not undefined. Items that were tested are not tested again when the check is
   * repeated: `check` and `keyOf` identify check and item. Throws `IncompleteCheck` after 10 ms with at least one test, and
   * for missing results, which it collects for several items.
   */
  findInTurns<Item, Found>(
    check: string,
    items: readonly Item[],
    keyOf: (item: Item) => string,
    test: (item: Item) => Found | undefined,
  ): Found | undefined {
    const tested = this.#tested.get(check) ?? new Set()
    this.#tested.set(check, tested)
    const untested = items.filter((item) => !tested.has(keyOf(item)))
    const startMs = this.#nowMs()
    const missing: SchemaJob[] = []
    for (const [at, item] of untested.entries()) {
      const isTurnOver = at > 0 && this.#nowMs() - startMs >= TURN_MS
      if (isTurnOver || isRequestFull(missing)) throw new IncompleteCheck(missing)
      const outcome = outcomeOf(() => test(item))
      if ('jobs' in outcome) missing.push(...outcome.jobs)
      else if ('found' in outcome && outcome.found === undefined) tested.add(keyOf(item))
      // Otherwise the result of an earlier item comes first.
      else if (missing.length === 0) return resultOf(outcome)
    }
    if (missing.length > 0) throw new IncompleteCheck(missing)
    return undefined
  }

  #keyOf(job: SchemaJob): string {
    if (job.op === 'compare') {
      return JSON.stringify([job.op, this.#schemaKey(job.reader), this.#schemaKey(job.writer), job.options])
    }
    if (job.op === 'equivalent')
      return JSON.stringify([job.op, this.#schemaKey(job.schema), this.#schemaKey(job.other)])
    const { op, schema, ...options } = job
    return JSON.stringify([op, this.#schemaKey(schema), options])
  }

  /** A digest, because the texts of all versions of a subject may not fit into memory. */
  #schemaKey(schema: UnparsedSchema): string {
    const key = this.#schemaKeys.get(schema) ?? createHash('sha256').update(JSON.stringify(schema)).digest('base64')
    this.#schemaKeys.set(schema, key)
    return key
  }
}

type TestOutcome<Found> =
  | { readonly found: Found | undefined }
  | { readonly jobs: readonly SchemaJob[] }
  | { readonly error: unknown }

function outcomeOf<Found>(test: () => Found | undefined): TestOutcome<Found> {
  try {
    return { found: test() }
  } catch (error) {
    return error instanceof IncompleteCheck ? { jobs: error.jobs } : { error }
  }
}

function resultOf<Found>(outcome: Exclude<TestOutcome<Found>, { readonly jobs: unknown }>): Found | undefined {
  if ('error' in outcome) throw outcome.error
  return outcome.found
}

function isRequestFull(jobs: readonly SchemaJob[]): boolean {
  const schemas = new Set(jobs.flatMap(schemasOf))
  const characters = schemas.values().reduce((sum, schema) => sum + charactersOf(schema), 0)
  return jobs.length >= JOBS_MAX || characters >= JOB_CHARACTERS_MAX
}

function schemasOf(job: SchemaJob): readonly UnparsedSchema[] {
  if (job.op === 'compare') return [job.reader, job.writer]
  return job.op === 'equivalent' ? [job.schema, job.other] : [job.schema]
}

function typeOf(job: SchemaJob): FormatType {
  return job.op === 'compare' ? job.reader.type : job.schema.type
}
