import { Script } from 'node:vm'
import { Formats } from '../model/schema-types.ts'
import { formatsOf, runWorkerJob, type WorkerJobOutcome, type WorkerJobRequest } from './worker-job.ts'

// The other side of `CompatibilityWorker`: a process that does one job at a time, in their order.

const formats = new Formats()
const scope = globalThis as { examine?: () => WorkerJobOutcome }
const examination = new Script('examine()')

process.on('message', async ({ number, job, limitMs }: WorkerJobRequest) => {
  await Promise.all(formatsOf(job).map((type) => formats.load(type)))
  scope.examine = () => runWorkerJob(job, formats)
  process.send?.({ number, outcome: within(limitMs) })
})
process.on('disconnect', () => process.exit())

/** Even a regular expression ends in time, also when nobody is there any more to end this process. */
function within(limitMs: number): WorkerJobOutcome {
  try {
    return examination.runInThisContext({ timeout: limitMs }) as WorkerJobOutcome
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return { wrong: `too complex: not examined within ${limitMs} ms` }
  }
}
