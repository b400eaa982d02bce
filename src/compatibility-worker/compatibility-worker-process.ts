import { Script } from 'node:vm'
import type { Format, FormatType } from '../formats/format.ts'
import { loadFormat } from '../formats/load-format.ts'
import {
  formatsOf,
  type Progress,
  runJob,
  type WorkerJobOutcome,
  type WorkerJobRequest,
  type WorkerJobResponse,
} from './worker-job.ts'

// The child process of `CompatibilityWorker`. It runs one job at a time, in the order in which they arrive. The limit of
// elapsed time also interrupts regular expressions. An interrupted job can leave libraries in a state in which they fail, so
// this process runs no job after it.

const formats = new Map<FormatType, Format>()
const scope = globalThis as { runCurrentJob?: () => WorkerJobOutcome }
const script = new Script('runCurrentJob()')

process.on('message', async ({ number, job, cpuMsMax, elapsedMsMax }: WorkerJobRequest) => {
  for (const type of new Set(formatsOf(job))) formats.set(type, formats.get(type) ?? (await loadFormat(type)))
  const progress = { compared: 0 }
  const start = process.cpuUsage()
  try {
    scope.runCurrentJob = () => runJob(job, formats, progress)
    respond({ number, outcome: script.runInThisContext({ timeout: elapsedMsMax }) as WorkerJobOutcome })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    const { user, system } = process.cpuUsage(start)
    respond({ number, interrupted: afterInterruption(progress, (user + system) / 1_000, cpuMsMax) })
  }
})
process.on('disconnect', () => process.exit())

/** The result of a job that was interrupted, if it has one. */
function afterInterruption(progress: Progress, cpuMs: number, cpuMsMax: number): WorkerJobOutcome | undefined {
  // The versions before the one that takes too long have their result.
  if (progress.compared > 0) return { result: { ...progress, found: undefined } }
  // The timer can be early by a few milliseconds.
  if (cpuMs < cpuMsMax * 0.95) return undefined
  return { invalid: `too complex: not processed within ${cpuMsMax} ms of CPU time`, isLimit: true }
}

function respond(response: WorkerJobResponse): void {
  process.send?.(response)
}
