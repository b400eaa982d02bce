import { flushCompileCache } from 'node:module'
import { MessageChannel } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import { postponeOptimization } from '../../../common/code-optimization.ts'
import { countersIn, countersMemory, type TaskCounters } from '../../tasks/task-counters.ts'
import { ResidentLimit, taskMemoryExceeded } from '../memory-limits.ts'
import { raiseOomScore } from '../oom-score.ts'
import type { TaskCommand, TaskProcessCommand, TaskProcessMessage, TaskProcessStart } from './task-messages.ts'
import { TaskThread } from './task-thread.ts'

// Entry point of a task process, which `task-process.ts` starts. Its main thread supervises the one thread that runs the
// tasks, and stays responsive whatever that thread does. No plugin code runs in the main thread.

const CHECK_INTERVAL_MS = 250
const MEMORY_CHECK_INTERVAL_MS = 100
/**
 * A worker that is silent for 10 s is frozen or has exited: its group session has expired and other workers run its
 * tasks.
 */
const SILENT_CHECKS_MAX = 10_000 / CHECK_INTERVAL_MS

/** The counters of one task, and those that were sent last, as JSON. */
type ReportedCounters = { readonly live: TaskCounters; sent: string }

const countersByRun = new Map<number, ReportedCounters>()
let thread: TaskThread | undefined
let sendToBroker: ((message: unknown) => void) | undefined
let silentChecks = 0

postponeOptimization()
process.title = `weir ${process.argv[2] ?? 'tasks'}`
// A terminal or a service manager sends these to all processes of the group; the worker decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
// By a signal, because an exit would wait for the thread, which may be in native code.
process.on('disconnect', die)
process.on('message', (message: TaskProcessCommand) => {
  silentChecks = 0
  if (message.do === 'initialize') initialize(message.options)
  else if (message.do === 'broker') sendToBroker?.(message.message)
  else if (message.do !== 'heartbeat') forward(message)
})
raiseOomScore()

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('the process was not killed by SIGKILL')
}

function sendToWorker(message: TaskProcessMessage): void {
  // A send fails only when the worker has exited; `disconnect` then ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

function initialize(options: TaskProcessStart): void {
  const { plugins, access, memoryMbMax, blockedMsMax, log } = options
  const started = new TaskThread({
    name: process.argv[2] ?? 'tasks',
    address: addressOf(options),
    plugins,
    access,
    memoryMbMax,
    log,
    onMessage: (message) => {
      if (message.type === 'stopped') sendCounters(message.runId)
      sendToWorker(message)
    },
    onEnd: (end) => sendToWorker({ type: 'ended', end }),
  })
  thread = started
  // All modules of this thread are loaded. The compile cache stays in memory until it is written, and the process ends by SIGKILL.
  flushCompileCache()
  const limit = new ResidentLimit(memoryMbMax)
  const cpuUtilization = measureCpuUtilization()
  setInterval(() => {
    silentChecks += 1
    if (silentChecks > SILENT_CHECKS_MAX) die()
    sendToWorker({ type: 'heartbeat', load: { cpuUtilization: cpuUtilization(), memoryPart: limit.usedPart } })
    const counters = newCounters()
    if (counters.length > 0) sendToWorker({ type: 'counters', counters })
    if (started.isBlocked(blockedMsMax, CHECK_INTERVAL_MS)) void started.endBlocked(blockedMsMax)
  }, CHECK_INTERVAL_MS)
  const measuring = setInterval(() => {
    if (!started.isReady || !limit.isExceeded(process.memoryUsage.rss())) return
    clearInterval(measuring)
    sendToWorker({ type: 'ended', end: { what: taskMemoryExceeded(memoryMbMax) } })
  }, MEMORY_CHECK_INTERVAL_MS)
}

/** The result returns the CPU time of this process since the last call, as a part of the time. */
function measureCpuUtilization(): () => number {
  let lastMs = performance.now()
  let last = process.cpuUsage()
  return () => {
    const nowMs = performance.now()
    const { user, system } = process.cpuUsage(last)
    const part = (user + system) / 1_000 / (nowMs - lastMs)
    lastMs = nowMs
    last = process.cpuUsage()
    return part
  }
}

function addressOf({ address }: TaskProcessStart): BrokerAddress {
  if (address !== 'parent') return address
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (message: unknown) => sendToWorker({ type: 'broker', message }))
  sendToBroker = (message) => port1.postMessage(message)
  return { kind: 'thread', port: port2 }
}

function forward(command: TaskCommand): void {
  if (command.do !== 'start') {
    thread?.post(command)
    return
  }
  const memory = countersMemory()
  countersByRun.set(command.runId, { live: countersIn(memory), sent: '' })
  thread?.post({ ...command, counters: memory })
}

function newCounters(): readonly (readonly [number, TaskCounters])[] {
  return [...countersByRun].flatMap(([runId, entry]) => {
    const now = JSON.stringify(entry.live)
    if (now === entry.sent) return []
    entry.sent = now
    return [[runId, { ...entry.live }] as const]
  })
}

function sendCounters(runId: number): void {
  const entry = countersByRun.get(runId)
  if (entry) sendToWorker({ type: 'counters', counters: [[runId, { ...entry.live }]] })
  countersByRun.delete(runId)
}
