import type { OwnMessage } from './isolated-process.ts'
import { raiseOomScore } from './oom-score.ts'

const HEARTBEAT_MS = 250
/**
 * A worker that is silent for 10 s is frozen or has exited: its group session has expired and other workers run its
 * tasks.
 */
const SILENT_HEARTBEATS_MAX = 10_000 / HEARTBEAT_MS

export type WorkerChannel = {
  /** Resolves when the message is written. */
  send(message: object): Promise<void>
  /** Begins to report that this process responds. To be called when its modules are loaded. */
  startHeartbeats(): void
}

/**
 * Connects a process that `isolated-process.ts` started to its worker. `currentKey` returns the task or call on whose behalf
 * the current code runs.
 */
export function connectToWorker(
  currentKey: () => string | undefined,
  onMessage: (message: unknown) => void,
): WorkerChannel {
  let silentHeartbeats = 0
  let isConnected = true
  const send = (message: object) =>
    new Promise<void>((resolve) => {
      // A send fails only when the worker has exited; `disconnect` then ends this process.
      if (process.connected) process.send?.(message, undefined, undefined, () => resolve())
      else resolve()
    })
  // A service manager sends these to all processes of a service; the worker decides when this one ends.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => {
    isConnected = false
    process.exit()
  })
  process.on('exit', () => {
    if (isConnected) void send({ type: 'exiting', key: currentKey(), stack: stackOfExit() } satisfies OwnMessage)
  })
  process.on('message', (message: { readonly do?: unknown }) => {
    silentHeartbeats = 0
    if (message.do !== 'heartbeat') onMessage(message)
  })
  raiseOomScore()
  return {
    send,
    startHeartbeats() {
      process.channel?.ref()
      const cpuUtilization = measureCpuUtilization()
      const beat = () => {
        silentHeartbeats += 1
        if (silentHeartbeats > SILENT_HEARTBEATS_MAX) process.exit()
        const residentBytes = process.memoryUsage.rss()
        void send({ type: 'heartbeat', cpuUtilization: cpuUtilization(), residentBytes } satisfies OwnMessage)
      }
      beat()
      setInterval(beat, HEARTBEAT_MS)
    },
  }
}

/** The returned function gives the processors that this process used on average since the last call: 1 is a whole one. */
function measureCpuUtilization(): () => number {
  let lastMs = performance.now()
  let last = process.cpuUsage()
  return () => {
    const nowMs = performance.now()
    const { user, system } = process.cpuUsage(last)
    const part = (user + system) / 1_000 / Math.max(1, nowMs - lastMs)
    lastMs = nowMs
    last = process.cpuUsage()
    return part
  }
}

/** The frames of the code that called `process.exit`, without those of Node.js and of this module; empty if none did. */
function stackOfExit(): string {
  const frames = (new Error('exit').stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  const from = frames.findIndex((frame) => frame.includes('at process.exit '))
  return from === -1 ? '' : frames.slice(from + 1).join('\n')
}
