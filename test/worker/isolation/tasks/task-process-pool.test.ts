import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../../src/common/logging/logger.ts'
import { ALL_ACCESS } from '../../../../src/worker/host-access/connector-access.ts'
import type { ProcessLoadReport } from '../../../../src/worker/isolation/isolated-process.ts'
import type { TaskCommand } from '../../../../src/worker/isolation/tasks/task-messages.ts'
import type { TaskProcessOptions } from '../../../../src/worker/isolation/tasks/task-process.ts'
import { TaskProcessPool } from '../../../../src/worker/isolation/tasks/task-process-pool.ts'
import { countersIn } from '../../../../src/worker/tasks/task-counters.ts'
import { taskSpec } from '../../../support/task.ts'
import { FIXED_TOPICS } from '../../../support/topic-access.ts'

const BUSY: ProcessLoadReport = { cpuUtilization: 0.9, memoryPart: 0.1 }
const IDLE: ProcessLoadReport = { cpuUtilization: 0.1, memoryPart: 0.1 }
const WINDOW_REPORTS = 20
const STOP_MS_MAX = 60_000

/** A process that the test controls. */
type FakeProcess = TaskProcessOptions & { readonly posted: TaskCommand[]; ownMs: number }

/** A pool of at most `threads` processes, with tasks that are restarted when they are interrupted, as by a worker. */
function openPool(threads: number) {
  const processes: FakeProcess[] = []
  const pool = new TaskProcessPool({
    logger: silentLogger(),
    address: () => Promise.reject(new Error('no process of this test asks for it')),
    access: ALL_ACCESS,
    topics: FIXED_TOPICS,
    modulesOf: ({ connector }) => (connector.startsWith('installed') ? ['file:///installed.ts'] : []),
    open: (options) => {
      const fake: FakeProcess = { ...options, posted: [], ownMs: 0 }
      processes.push(fake)
      return {
        get ownMs() {
          return fake.ownMs
        },
        post: (command) => void (command.do === 'set-topic-policy' || fake.posted.push(command)),
        end: async () => {},
      }
    },
    threads,
    memoryMbMax: 100,
    blockedMsMax: 1_000,
    startMsMax: 60_000,
    stopMsMax: STOP_MS_MAX,
    log: { linesPerSecond: 1, bytesPerSecond: 1 },
  })
  onTestFinished(() => pool.close())
  /** Processes whose first window is over. */
  const started = new Set<number>()
  const reportWindow = (at: number, load: ProcessLoadReport) => {
    started.add(at)
    for (let report = 0; report < WINDOW_REPORTS; report++) processes[at]!.onMessage({ type: 'heartbeat', load })
  }
  return {
    start: (connector: string) => {
      const task = { ...startOnce(connector), interruptions: 0 }
      return task

      function startOnce(name: string) {
        const spec = taskSpec({ class: name, kind: 'source' }, {})
        return pool.start(spec, (message) => {
          if (message.type !== 'interrupted') return
          task.interruptions += 1
          Object.assign(task, startOnce(name))
        })
      }
    },
    /** The commands to a process, as `COMMAND CONNECTOR`. */
    posted: (at: number) => commandsOf(processes, processes[at]),
    count: () => processes.length,
    /** Reports that the tasks of a process run, the records that each has read, and its load for a window after the first. */
    report(at: number, load: ProcessLoadReport, records: Readonly<Record<string, number>>) {
      const { posted, onMessage } = processes[at]!
      if (!started.has(at)) reportWindow(at, IDLE)
      for (const command of posted) {
        if (command.do !== 'start') continue
        const { runId, spec } = command
        onMessage({ type: 'task-message', runId, message: { type: 'running' } })
        const counters = { ...countersIn(), recordsIn: records[spec.connector] ?? 0 }
        onMessage({ type: 'counters', counters: [[runId, counters]] })
      }
      reportWindow(at, load)
    },
    reportWindow,
    /** Lets a process have time of its own. */
    run(at: number, ms: number) {
      processes[at]!.ownMs += ms
    },
    end: (at: number, end: Parameters<TaskProcessOptions['onEnd']>[0]) => processes[at]!.onEnd(end),
    /** Reports that all tasks that were told to stop have stopped. */
    confirmStops(at: number) {
      const { posted, onMessage } = processes[at]!
      for (const { do: what, runId } of posted) if (what === 'stop') onMessage({ type: 'stopped', runId })
    },
  }
}

function commandsOf(processes: readonly FakeProcess[], { posted }: FakeProcess = processes[0]!): readonly string[] {
  const names = new Map<number, string>()
  for (const command of processes.flatMap((process) => process.posted))
    if (command.do === 'start') names.set(command.runId, command.spec.connector)
  return posted.map(({ do: what, runId }) => `${what} ${names.get(runId)}`)
}

it('tasks start in one process while it is not overloaded', () => {
  const pool = openPool(4)
  for (const name of ['a', 'b', 'c']) pool.start(name)
  pool.report(0, IDLE, { a: 100, b: 100, c: 100 })
  pool.start('d')
  expect(pool.count()).toBe(1)
})

it('a task starts in a further process when the first one is overloaded', () => {
  const pool = openPool(2)
  pool.start('a')
  pool.report(0, BUSY, { a: 100 })
  pool.start('b')
  expect(pool.posted(1)).toEqual(['start b'])
})

it('tasks start in a process that is busy with its start', () => {
  const pool = openPool(2)
  pool.start('a')
  pool.reportWindow(0, BUSY)
  pool.start('b')
  expect(pool.count()).toBe(1)
})

it('a task of an overloaded process continues in a further one, when it has stopped', () => {
  const pool = openPool(2)
  const [one, two] = [pool.start('one'), pool.start('two')]
  pool.report(0, BUSY, { one: 100, two: 100 })
  expect(pool.posted(0)).toEqual(['start one', 'start two', 'stop two'])
  expect(pool.posted(1)).toEqual([])
  pool.confirmStops(0)
  expect(pool.posted(1)).toEqual(['start two'])
  expect([one.interruptions, two.interruptions]).toEqual([0, 1])
})

it('tasks continue in the process that was started for them, even while it is busy with its start', () => {
  const pool = openPool(2)
  for (const name of ['a', 'b', 'c', 'd']) pool.start(name)
  pool.report(0, BUSY, { a: 100, b: 100, c: 100, d: 100 })
  pool.report(0, IDLE, {})
  pool.report(1, BUSY, {})
  pool.confirmStops(0)
  expect(pool.posted(1)).toEqual(['start b', 'start d'])
})

it('a task that is deleted while it moves does not continue', async () => {
  const pool = openPool(2)
  pool.start('one')
  const two = pool.start('two')
  pool.report(0, BUSY, { one: 100, two: 100 })
  const stopped = two.stop()
  pool.confirmStops(0)
  await stopped
  expect(pool.posted(1)).toEqual([])
  expect(two.interruptions).toBe(0)
})

it('only records of the last window decide which task moves', () => {
  const pool = openPool(2)
  for (const name of ['early', 'late', 'later']) pool.start(name)
  pool.report(0, IDLE, { early: 1_000_000, late: 0, later: 0 })
  pool.report(0, BUSY, { early: 1_000_000, late: 100, later: 100 })
  expect(pool.posted(0).at(-1)).toBe('stop later')
  expect(pool.posted(0)).not.toContain('stop early')
})

it('no task moves when the worker has its maximum of processes', () => {
  const pool = openPool(1)
  for (const name of ['a', 'b']) pool.start(name)
  pool.report(0, BUSY, { a: 100, b: 100 })
  expect(pool.count()).toBe(1)
  expect(pool.posted(0)).toEqual(['start a', 'start b'])
})

it('a connector with code of an installed module shares its process with no other connector', () => {
  const pool = openPool(4)
  for (const name of ['a', 'installed-1', 'installed-2', 'b', 'installed-1']) pool.start(name)
  expect(pool.posted(0)).toEqual(['start a', 'start b'])
  expect(pool.posted(1)).toEqual(['start installed-1', 'start installed-1'])
  expect(pool.posted(2)).toEqual(['start installed-2'])
})

it('a task that did not stop in time ends with its process only when that process had the time', async () => {
  const pool = openPool(1)
  const [slow, other] = [pool.start('slow'), pool.start('other')]
  void slow.stop()
  slow.cancel()
  // The next task does not depend on the one that has not stopped.
  pool.start('next')
  expect(pool.posted(1)).toEqual(['start next'])
  expect(pool.posted(0)).toEqual(['start slow', 'start other', 'stop slow'])
  pool.run(0, STOP_MS_MAX + 1)
  await expect.poll(() => pool.posted(0)).toEqual(['start slow', 'start other', 'stop slow', 'stop other'])
  pool.confirmStops(0)
  expect(other.interruptions).toBe(1)
})

it('tasks of a process that lost contact to a worker that was not run are restarted without a fault', () => {
  const pool = openPool(1)
  const one = pool.start('one')
  pool.end(0, { cause: 'lost', what: 'had no contact to its worker' })
  expect(one.interruptions).toBe(1)
  expect(pool.posted(1)).toEqual(['start one'])
})
