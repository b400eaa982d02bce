import { MessageChannel } from 'node:worker_threads'
import type { BrokerAddress } from '../../../broker/broker-address.ts'
import { countersIn, countersMemory, type TaskCounters } from '../../tasks/task-counters.ts'
import { raiseOomScore } from '../oom-score.ts'
import { ResidentLimit } from '../resident-limit.ts'
import type { SupervisorCommand, SupervisorMessage, SupervisorOptions, TaskCommand } from './task-messages.ts'
import { exhaustedMemory, TaskThread } from './task-thread.ts'

// Entry point of a task process. The main thread supervises the one thread that runs the tasks, and stays responsive
// whatever that thread does. No plugin code runs in the main thread.

const LOOK_MS = 250
const MEASURE_MS = 100
/**
 * A worker that is silent for 10 s is frozen or has exited: its group session has expired and other workers run its
 * tasks.
 */
const SILENT_LOOKS_MAX = 10_000 / LOOK_MS

type Counted = { readonly live: TaskCounters; sent: string }

const counted = new Map<number, Counted>()
let thread: TaskThread | undefined
let toBroker: ((message: unknown) => void) | undefined
let silentLooks = 0

process.title = `weir ${process.argv[2] ?? 'tasks'}`
// A terminal or a service manager sends these to all processes of the group; the worker decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
// By a signal, because an exit would wait for the thread, which may be in native code.
process.on('disconnect', die)
process.on('message', (message: SupervisorCommand) => {
  silentLooks = 0
  if (message.do === 'begin') begin(message.options)
  else if (message.do === 'broker') toBroker?.(message.message)
  else if (message.do !== 'pulse') pass(message)
})
raiseOomScore()

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('a killed process does not go on')
}

function tell(message: SupervisorMessage): void {
  // A send fails only when the worker has exited; `disconnect` then ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

function begin(options: SupervisorOptions): void {
  const { plugins, access, memoryMbMax, blockedMsMax, log } = options
  const started = new TaskThread({
    name: process.argv[2] ?? 'tasks',
    address: addressOf(options),
    plugins,
    access,
    memoryMbMax,
    log,
    onMessage: (message) => {
      if (message.type === 'stopped') sendCounters(message.slot)
      tell(message)
    },
    onEnd: (end) => tell({ type: 'ended', end }),
  })
  thread = started
  setInterval(() => {
    silentLooks += 1
    if (silentLooks > SILENT_LOOKS_MAX) die()
    tell({ type: 'pulse', counters: newCounters() })
    if (started.look() === Math.ceil(blockedMsMax / LOOK_MS)) void started.endBlocked(blockedMsMax)
  }, LOOK_MS)
  const limit = new ResidentLimit(memoryMbMax)
  const measuring = setInterval(() => {
    if (!started.isReady || !limit.isExceeded(process.memoryUsage.rss())) return
    clearInterval(measuring)
    tell({ type: 'ended', end: { what: exhaustedMemory(memoryMbMax) } })
  }, MEASURE_MS)
}

function addressOf({ address }: SupervisorOptions): BrokerAddress {
  if (address !== 'parent') return address
  const { port1, port2 } = new MessageChannel()
  port1.on('message', (message: unknown) => tell({ type: 'broker', message }))
  toBroker = (message) => port1.postMessage(message)
  return { kind: 'thread', port: port2 }
}

function pass(command: TaskCommand): void {
  if (command.do !== 'start') {
    thread?.post(command)
    return
  }
  const memory = countersMemory()
  counted.set(command.slot, { live: countersIn(memory), sent: '' })
  thread?.post({ ...command, counters: memory })
}

function newCounters(): readonly (readonly [number, TaskCounters])[] {
  return [...counted].flatMap(([slot, entry]) => {
    const now = JSON.stringify(entry.live)
    if (now === entry.sent) return []
    entry.sent = now
    return [[slot, { ...entry.live }] as const]
  })
}

function sendCounters(slot: number): void {
  const entry = counted.get(slot)
  if (entry) tell({ type: 'pulse', counters: [[slot, { ...entry.live }]] })
  counted.delete(slot)
}
