import { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { basename, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

/**
 * `npm run bench -- --profile DIR` imports this module into all Node.js processes below it. The main thread of each one
 * writes two profiles when it ends: of its CPU time (`.cpuprofile`) and of what it allocated, including what was
 * collected since (`.heapprofile`). Chrome DevTools shows both.
 */
export const PROFILE_DIRECTORY = 'WEIR_BENCH_PROFILES'

/** Mean number of bytes between two allocations that are sampled. */
const SAMPLING_BYTES = 65_536
/** Asks a process for its profiles. They would be lost with SIGKILL, by which a worker ends its processes of tasks. */
const FINISH = 'SIGUSR2'

const directory = process.env[PROFILE_DIRECTORY]
if (isMainThread && directory !== undefined) profileInto(directory)

function profileInto(directory: string): void {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.start')
  session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  const write = () => {
    mkdirSync(directory, { recursive: true })
    const file = join(directory, nameOfProcess())
    session.post('Profiler.stop', (_, { profile }) => writeFileSync(`${file}.cpuprofile`, JSON.stringify(profile)))
    session.post('HeapProfiler.stopSampling', (_, { profile }) =>
      writeFileSync(`${file}.heapprofile`, JSON.stringify(profile)),
    )
  }
  process.once('exit', write)
  process.once(FINISH, () => {
    write()
    process.kill(process.pid, 'SIGKILL')
  })
  finishInsteadOfKilling()
}

/** For example `weir-worker-4711` or `task-process-main-4712`. */
function nameOfProcess(): string {
  const [, script = 'node', command = ''] = process.argv
  const words = [basename(script).replace(/\.\w+$/, ''), ...(/^[a-z-]+$/.test(command) ? [command] : [])]
  return [...words, process.pid].join('-')
}

function finishInsteadOfKilling(): void {
  const kill = ChildProcess.prototype.kill
  ChildProcess.prototype.kill = function (signal) {
    const isNode = this.spawnfile === process.execPath
    return kill.call(this, isNode && signal === 'SIGKILL' ? FINISH : signal)
  }
}
