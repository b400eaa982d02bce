import { Script } from 'node:vm'
import type { Format, FormatType } from '../formats/format.ts'
import { loadFormat } from '../formats/load-format.ts'
import { formatsOf, JobRunner, type WorkerJob, type WorkerJobOutcome, type WorkerJobRequest } from './worker-job.ts'

// The child process of `CompatibilityWorker`. It runs one job at a time, in the order in which they arrive.

/** No further job of a request is started after this time, so that other requests do not wait long. */
const REQUEST_MS = 1_000

const formats = new Map<FormatType, Format>()
const scope = globalThis as { runJob?: () => WorkerJobOutcome }
const script = new Script('runJob()')

process.on('message', async ({ number, jobs, limitMs }: WorkerJobRequest) => {
  for (const type of new Set(jobs.flatMap(formatsOf))) formats.set(type, formats.get(type) ?? (await loadFormat(type)))
  process.send?.({ number, outcomes: runJobs(jobs, limitMs) })
})
process.on('disconnect', () => process.exit())

function runJobs(jobs: readonly WorkerJob[], limitMs: number): readonly WorkerJobOutcome[] {
  const runner = new JobRunner(formats)
  const startMs = performance.now()
  const outcomes: WorkerJobOutcome[] = []
  for (const job of jobs) {
    scope.runJob = () => runner.run(job)
    outcomes.push(runWithDeadline(limitMs))
    if (performance.now() - startMs >= REQUEST_MS) break
  }
  return outcomes
}

/**
 * Runs the job with a deadline that also interrupts regular expressions. It does not depend on the parent process,
 * which may have exited.
 */
function runWithDeadline(limitMs: number): WorkerJobOutcome {
  try {
    return script.runInThisContext({ timeout: limitMs }) as WorkerJobOutcome
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return { invalid: `too complex: not processed within ${limitMs} ms` }
  }
}
