import { Worker } from 'node:worker_threads'
import type { Logger } from '../../common/logging/logger.ts'
import { entryPoint } from '../../common/program-files.ts'
import type { WatchdogThreadData } from './watchdog-thread-main.ts'

const HEARTBEAT_MS = 500
/** Most of it is for stripping the types of the thread's file when it runs from source. */
const MEMORY_MB_MAX = 64

/**
 * Kills the process when its main thread is blocked for `blockedMsMax`, because a blocked main thread cannot handle signals. Does
 * not keep the process alive. Process 1 of a container cannot be killed from within it: its liveness probe ends it, and it has
 * no watchdog, which would take 18 MB.
 */
export function startMainThreadWatchdog(blockedMsMax: number, logger: Logger): void {
  if (process.pid === 1) return
  const heartbeat = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  const counter = new Int32Array(heartbeat)
  setInterval(() => Atomics.add(counter, 0, 1), HEARTBEAT_MS).unref()
  const workerData: WatchdogThreadData = { heartbeat, heartbeatMs: HEARTBEAT_MS, blockedMsMax }
  const watchdog = new Worker(entryPoint('cli/process/watchdog-thread-main'), {
    name: 'main-thread-watchdog',
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  })
  // The program continues without the watchdog.
  watchdog.on('error', (error) => logger.warn({ err: error }, 'the main thread watchdog failed'))
  watchdog.unref()
}
