import { writeSync } from 'node:fs'
import { extname } from 'node:path'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import type { Logger } from '../../config/logger.ts'

// Ends the process when its main thread hangs: then no signal is handled any more, since that thread handles them. This
// file is both the watchdog's thread and what starts it.

const HEARTBEAT_MS = 500
/** In a checkout, Node strips the types of this file there, which takes more than watching. */
const MEMORY_MB_MAX = 64

type Data = { readonly beat: SharedArrayBuffer; readonly hungMsMax: number }

/** From now on a main thread that hangs for `hungMsMax` is the end of the process. Keeps nothing from ending. */
export function startMainThreadWatchdog(hungMsMax: number, logger: Logger): void {
  const beat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const counter = new Int32Array(beat)
  setInterval(() => Atomics.add(counter, 0, 1), HEARTBEAT_MS).unref()
  const workerData: Data = { beat, hungMsMax }
  const watchdog = new Worker(new URL(`./main-thread-watchdog${extname(import.meta.filename)}`, import.meta.url), {
    name: 'main-thread-watchdog',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  })
  // A program runs without it, too.
  watchdog.on('error', (error) => logger.warn({ err: error }, 'the watchdog of the main thread ended'))
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
    if (missed * HEARTBEAT_MS < hungMsMax) return
    const time = new Date().toISOString()
    const msg = 'the main thread hangs: ending the process, which could not be stopped otherwise'
    // Past the log, whose stream is the main thread's.
    writeSync(2, `${JSON.stringify({ level: 'fatal', time, hungMs: missed * HEARTBEAT_MS, msg })}\n`)
    process.kill(process.pid, 'SIGKILL')
  }, HEARTBEAT_MS)
}

if (!isMainThread) watch(workerData as Data)
