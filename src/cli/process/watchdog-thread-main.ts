import { writeSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

// Entry point of the thread that `main-thread-watchdog.ts` starts.

export type WatchdogThreadData = {
  /** A counter that the main thread increments while it is responsive. */
  readonly heartbeat: SharedArrayBuffer
  /** Interval of the increments, in ms. */
  readonly heartbeatMs: number
  readonly blockedMsMax: number
}

watch(workerData as WatchdogThreadData)

/** Counts its own intervals instead of time, so that a suspended process or machine does not count as blocked. */
function watch({ heartbeat, heartbeatMs, blockedMsMax }: WatchdogThreadData): void {
  const counter = new Int32Array(heartbeat)
  let last = -1
  let missedHeartbeats = 0
  setInterval(() => {
    const now = Atomics.load(counter, 0)
    missedHeartbeats = now === last ? missedHeartbeats + 1 : 0
    last = now
    if (missedHeartbeats * heartbeatMs < blockedMsMax) return
    const time = new Date().toISOString()
    const msg = 'the main thread is blocked: killing the process'
    // Not through the logger: its stream belongs to the main thread.
    writeSync(2, `${JSON.stringify({ level: 'fatal', time, blockedMs: missedHeartbeats * heartbeatMs, msg })}\n`)
    process.kill(process.pid, 'SIGKILL')
  }, heartbeatMs)
}
