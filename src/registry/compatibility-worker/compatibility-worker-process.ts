import { Script } from 'node:vm'
import { Formats } from '../model/schema-types.ts'
import { formatsOf, runWorkerJob, type WorkerJobOutcome, type WorkerJobRequest } from './worker-job.ts'

// The child process of `CompatibilityWorker`. It runs one job at a time, in the order in which they arrive.

const formats = new Formats()
const scope = globalThis as { runJob?: () => WorkerJobOutcome }
const script = new Script('runJob()')

process.on('message', async ({ number, job, limitMs }: WorkerJobRequest) => {
  await Promise.all(formatsOf(job).map((type) => formats.load(type)))
  scope.runJob = () => runWorkerJob(job, formats)
  process.send?.({ number, outcome: runWithDeadline(limitMs) })
})
process.on('disconnect', () => process.exit())

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
