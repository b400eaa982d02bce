import { ChildProcess } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { basename, join } from 'node:path'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

/**
 * The name of the environment variable with the directory of the profiles. `npm run bench -- --profile DIR` sets it and lets
 * every Node.js process that the benchmark starts import this module. Each thread of such a process then writes a profile of
 * its CPU time (`.cpuprofile`) and one of its allocations, including garbage (`.heapprofile`). Chrome DevTools opens both.
 */
export const PROFILE_DIRECTORY = 'WEIR_BENCH_PROFILES'

/** Mean number of bytes between two allocations that are sampled. */
const SAMPLING_BYTES = 65_536
/** Sent instead of SIGKILL, with which a worker ends its task processes and which would lose the profiles. */
const FINISH = 'SIGUSR2'
/** How long a process waits for the profiles of its threads. */
const THREADS_MS = 2_000

type ThreadMessage = { readonly thread: number; readonly state: 'started' | 'written' }

const directory = process.env[PROFILE_DIRECTORY]
if (directory !== undefined) {
  const write = startProfiles(directory)
  const channel = new BroadcastChannel('profiles of threads')
  channel.unref()
  if (isMainThread) writeWhenProcessEnds(write, channel)
  else writeWhenAsked(write, channel)
  finishInsteadOfKilling()
}

/** Starts to profile this thread. The returned function writes both profiles; further calls of it do nothing. */
function startProfiles(directory: string): () => void {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.start')
  session.post('HeapProfiler.startSampling', {
    samplingInterval: SAMPLING_BYTES,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  let isWritten = false
  return () => {
    if (isWritten) return
    isWritten = true
    mkdirSync(directory, { recursive: true })
    const file = join(directory, nameOfThread())
    session.post('Profiler.stop', (_, { profile }) => writeFileSync(`${file}.cpuprofile`, JSON.stringify(profile)))
    session.post('HeapProfiler.stopSampling', (_, { profile }) =>
      writeFileSync(`${file}.heapprofile`, JSON.stringify(profile)),
    )
  }
}

function writeWhenProcessEnds(write: () => void, channel: BroadcastChannel): void {
  const threads = new Set<number>()
  let onWritten: () => void = () => undefined
  channel.onmessage = (message) => {
    const { thread, state } = (message as { readonly data: ThreadMessage }).data
    if (state === 'started') threads.add(thread)
    else threads.delete(thread)
    if (threads.size === 0) onWritten()
  }
  process.once('exit', write)
  process.once(FINISH, async () => {
    write()
    if (threads.size > 0) {
      await new Promise<void>((resolve) => {
        onWritten = resolve
        setTimeout(resolve, THREADS_MS)
        channel.postMessage('finish')
      })
    }
    process.kill(process.pid, 'SIGKILL')
  })
}

function writeWhenAsked(write: () => void, channel: BroadcastChannel): void {
  const tell = (state: ThreadMessage['state']) =>
    channel.postMessage({ thread: threadId, state } satisfies ThreadMessage)
  const finish = () => {
    write()
    tell('written')
  }
  channel.onmessage = (message) => {
    if ((message as { readonly data: unknown }).data === 'finish') finish()
  }
  process.once('exit', finish)
  tell('started')
}

/** For example `weir-worker-4711`, or `task-thread-main-4712-thread-1`, because a thread has a script of its own. */
function nameOfThread(): string {
  const [, script = 'node', command = ''] = process.argv
  const words = [basename(script).replace(/\.\w+$/, ''), ...(/^[a-z-]+$/.test(command) ? [command] : [])]
  return [...words, process.pid, ...(isMainThread ? [] : ['thread', threadId])].join('-')
}

function finishInsteadOfKilling(): void {
  const kill = ChildProcess.prototype.kill
  ChildProcess.prototype.kill = function (signal) {
    const isNode = this.spawnfile === process.execPath
    return kill.call(this, isNode && signal === 'SIGKILL' ? FINISH : signal)
  }
}
