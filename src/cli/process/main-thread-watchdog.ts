import { writeSync } from 'node:fs'
import { extname } from 'node:path'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import type { Logger } from '../../common/logging/logger.ts'

// Ends the process when its main thread is blocked, because a blocked main thread cannot handle signals. This file is both
// the code of the watchdog's thread and the function that starts it.

const HEARTBEAT_MS = 500
/** Most of it is for stripping the types of this file when it runs from source. */
const MEMORY_MB_MAX = 64

type Data = { readonly heartbeat: SharedArrayBuffer; readonly blockedMsMax: number }

/** Kills the process when its main thread is blocked for `blockedMsMax`. Does not keep the process alive. */
export function startMainThreadWatchdog(blockedMsMax: number, logger: Logger): void {
  const heartbeat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const counter = new Int32Array(heartbeat)
  setInterval(() => Atomics.add(counter, 0, 1), HEARTBEAT_MS).unref()
  const workerData: Data = { heartbeat, blockedMsMax }
  const watchdog = new Worker(new URL(`./main-thread-watchdog${extname(import.meta.filename)}`, import.meta.url), {
    name: 'main-thread-watchdog',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  })
  // The program continues without the watchdog.
  watchdog.on('error', (error) => logger.warn({ err: error }, 'the main thread watchdog failed'))
  watchdog.unref()
}

/** Counts its own intervals instead of time, so that a suspended process or machine does not count as blocked. */
function watch({ heartbeat, blockedMsMax }: Data): void {
  const counter = new Int32Array(heartbeat)
  let last = -1
  let missedHeartbeats = 0
  setInterval(() => {
    const now = Atomics.load(counter, 0)
    missedHeartbeats = now === last ? missedHeartbeats + 1 : 0
    last = now
    if (missedHeartbeats * HEARTBEAT_MS < blockedMsMax) return
    const time = new Date().toISOString()
    const msg = 'the main thread is blocked: killing the process'
    // Not through the logger: its stream belongs to the main thread.
    writeSync(2, `${JSON.stringify({ level: 'fatal', time, blockedMs: missedHeartbeats * HEARTBEAT_MS, msg })}\n`)
    process.kill(process.pid, 'SIGKILL')
  }, HEARTBEAT_MS)
}

if (!isMainThread) watch(workerData as Data)
