import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { ALL_ACCESS } from '../../src/worker/host-access/connector-access.ts'
import { TaskProcess } from '../../src/worker/isolation/tasks/task-process.ts'
import { TaskProcessPool } from '../../src/worker/isolation/tasks/task-process-pool.ts'
import type { RunningTask } from '../../src/worker/tasks/task-spec.ts'
import { taskSpec } from '../support/task.ts'
import { openTestBroker } from '../support/topic.ts'
import { FIXED_TOPICS } from '../support/topic-access.ts'
import { until } from '../support/until.ts'

const BLOCKED_MS = 2_000
const MODULE = new URL('../support/misbehaving-plugins.ts', import.meta.url).href
/** All tasks are of one connector, so that they share a process. */
const CONNECTOR = 'misbehaving'
const WAIT = { everyMs: 10, timeoutMs: 120_000 }

describe('tasks in task processes', () => {
  it('run concurrently, and their counters are visible to the worker', async () => {
    const tasks = await openPool(2)
    const [one, two] = [tasks.start('Steady'), tasks.start('Steady')]
    await until('both to write', WAIT, () => one.written() > 5 && two.written() > 5)
    expect(one.states).toEqual(['running'])
    one.running.pause()
    await until('it to pause', WAIT, () => one.states.at(-1) === 'paused')
    one.running.resume()
    const { length } = one.states
    await until('it to go on', WAIT, () => one.states.length > length)
    await one.running.stop()
    await two.running.stop()
  })

  it.each([
    [
      'spins',
      'Spinner',
      /task misbehaving-\d blocked its thread for more than 2000 ms; stack of its thread:\n +at spinForEver /,
    ],
    [
      'waits in native code',
      'Sleeper',
      // Whether a wait can be interrupted for its stack depends on when the signal arrives.
      /task misbehaving-\d blocked its thread for more than 2000 ms; (?:it waited in native code.*, which has no stack$|stack of its thread:\n)/,
    ],
    [
      'exits',
      'Exiter',
      /task misbehaving-\d ended its process with exit code 3; stack of its thread:\n.*misbehaving-plugins/s,
    ],
    [
      'hoards memory',
      'Hoarder',
      /task misbehaving-\d exceeded the memory limit of its thread, 48 MB \(worker\.thread\.memory\.mb\)/,
    ],
    ['throws out of band', 'Thrower', /Error: out of band/],
  ])('fail alone, by name, when one %s; the other tasks continue', async (_, name, trace) => {
    const tasks = await openPool(1)
    const neighbours = [tasks.start('Steady'), tasks.start('Steady')]
    const guilty = tasks.start(name)
    const others = [...neighbours, tasks.start('Steady')]
    await until('it to fail', WAIT, () => guilty.trace() !== undefined)
    expect(guilty.trace()).toMatch(trace)
    expect(tasks.longestTurnMs()).toBeLessThan(1_000)
    const before = others.map((task) => task.written())
    await until('its neighbours to go on', WAIT, () =>
      others.every((task, at) => task.states.at(-1) === 'running' && task.written() > before[at]!),
    )
    expect(others.map((task) => task.trace())).toEqual([undefined, undefined, undefined])
  })

  it('use the thread that was started in advance, and no further thread while it is not overloaded', async () => {
    const tasks = await openPool(2, true)
    expect(tasks.threads()).toBe(1)
    const both = [tasks.start('Datagen'), tasks.start('Datagen')]
    await until('both to write', WAIT, () => both.every((task) => task.written() > 3))
    expect(tasks.threads()).toBe(1)
  })

  it('use a further thread when they use more than half of the memory limit, to which one of two moves', async () => {
    const tasks = await openPool(2)
    const both = [tasks.start('Holder'), tasks.start('Holder')]
    await until('one to move', WAIT, () => both.some(({ states }) => states.includes('interrupted')))
    const moved = both.filter(({ states }) => states.includes('interrupted'))
    expect(moved).toHaveLength(1)
    await until('both to write', WAIT, () =>
      both.every((task) => task.states.at(-1) === 'running' && task.written() > 3),
    )
    expect(tasks.threads()).toBe(2)
    expect(both.map((task) => task.trace())).toEqual([undefined, undefined])
  })

  it('fail when they do not start within worker.task.start.timeout.ms, without affecting others', async () => {
    const tasks = await openPool(1, false, 10_000)
    const neighbour = tasks.start('Steady')
    const late = tasks.start('NeverStarts', 'sink')
    await until('it to fail', WAIT, () => late.trace() !== undefined)
    expect(late.trace()).toBe('task misbehaving-1 did not start within 10000 ms (worker.task.start.timeout.ms)')
    expect(neighbour.trace()).toBeUndefined()
    const before = neighbour.written()
    await until('its neighbour to go on', WAIT, () => neighbour.written() > before)
  })

  it('that do not stop end with their process when they are alone in it', async () => {
    const tasks = await openPool(1)
    const stuck = tasks.start('Sleeper')
    await until('it to run', WAIT, () => stuck.states.includes('running'))
    // It is stuck after three records, and reports nothing from then on.
    await sleep(500)
    const stopped = stuck.running.stop()
    stuck.running.cancel()
    const next = tasks.start('Steady')
    await until('another one to run', WAIT, () => next.written() > 3)
    await stopped
    expect(stuck.trace()).toBeUndefined()
  })
})

async function openPool(threads: number, isWarm = false, startMsMax = 60_000) {
  const logger = silentLogger()
  const broker = await openTestBroker()
  let started = 0
  const pool = new TaskProcessPool({
    logger,
    address: () => {
      started += 1
      return broker.address()
    },
    modulesOf: ({ config }) => (config['connector.class'] === 'Datagen' ? [] : [MODULE]),
    access: ALL_ACCESS,
    topics: FIXED_TOPICS,
    open: (own) => new TaskProcess(own),
    threads,
    memoryMbMax: 48,
    blockedMsMax: BLOCKED_MS,
    startMsMax,
    stopMsMax: 2_000,
    log: { linesPerSecond: 100, bytesPerSecond: 65_536 },
  })
  if (isWarm) pool.warmUp()
  let longestMs = 0
  let lastMs = threadCpuMs()
  const turning = setInterval(() => {
    longestMs = Math.max(longestMs, threadCpuMs() - lastMs)
    lastMs = threadCpuMs()
  }, 10)
  onTestFinished(async () => {
    clearInterval(turning)
    await pool.close()
  })
  let count = 0
  return {
    start: (name: string, kind: 'source' | 'sink' = 'source') => startTask(pool, name, kind, count++),
    /** Number of threads that were started. */
    threads: () => started,
    /** Longest turn of the event loop of this thread, in CPU time. */
    longestTurnMs: () => longestMs,
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Restarts interrupted tasks, as `WorkRunner` does. */
function startTask(pool: TaskProcessPool, name: string, kind: 'source' | 'sink', task: number) {
  const config = { topic: 'records', topics: 'records', 'kafka.topic': 'records' }
  const spec = taskSpec({ class: name, kind }, config, { connector: CONNECTOR, task })
  const states: string[] = []
  let trace: string | undefined
  const start = (): RunningTask =>
    pool.start(spec, (message) => {
      states.push(message.type)
      if (message.type === 'failed') trace = message.trace
      if (message.type === 'interrupted') started.running = start()
    })
  const started = {
    states,
    running: start(),
    trace: () => trace,
    written: () => started.running.counters().recordsOut,
  }
  return started
}
