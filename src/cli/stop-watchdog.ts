import { writeSync } from 'node:fs'
import { extname } from 'node:path'
import { isMainThread, Worker, workerData } from 'node:worker_threads'

// Ends the process when its main thread hangs: then no signal is handled any more, since that thread handles them. This
// file is both the watchdog's thread and what starts it.

const BEAT_MS = 500
const MB = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 }

type Data = { readonly beat: SharedArrayBuffer; readonly hungMsMax: number }

/** From now on a main thread that hangs for `hungMsMax` is the end of the process. Keeps nothing from ending. */
export function startStopWatchdog(hungMsMax: number): void {
  const beat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const counter = new Int32Array(beat)
  setInterval(() => Atomics.add(counter, 0, 1), BEAT_MS).unref()
  const workerData: Data = { beat, hungMsMax }
  const watchdog = new Worker(new URL(`./stop-watchdog${extname(import.meta.filename)}`, import.meta.url), {
    name: 'stop-watchdog',
    workerData,
    resourceLimits: MB,
  })
  // A program runs without it, too.
  watchdog.on('error', () => undefined)
  watchdog.unref()
}

/** Counts its own turns, not time: a process that is frozen as a whole, or a machine that sleeps, does not hang. */
function watch({ beat, hungMsMax }: Data): void {
  const counter = new Int32Array(beat)
  let last = -1
  let missed = 0
  setInterval(() => {
    const now = Atomics.load(counter, 0)
    missed = now === last ? missed + 1 : 0
    last = now
    if (missed * BEAT_MS < hungMsMax) return
    const time = new Date().toISOString()
    const msg = 'the main thread hangs: ending the process, which could not be stopped otherwise'
    // Past the log, whose stream is the main thread's.
    writeSync(2, `${JSON.stringify({ level: 'fatal', time, hungMs: missed * BEAT_MS, msg })}\n`)
    process.kill(process.pid, 'SIGKILL')
  }, BEAT_MS)
}

if (!isMainThread) watch(workerData as Data)
