import { describe, expect, it } from 'vitest'
import { OpenTransactionError } from '../../../src/broker/broker-error.ts'
import type { RawConfig } from '../../../src/sdk/index.ts'
import type { WorkRunnerOptions } from '../../../src/worker/herder/work-runner.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const ID = { connector: 'c', task: 0 }
const START = { do: 'start-task', id: ID, config: SOURCE, target: 'STARTED' } as const

describe('WorkRunner', () => {
  it('starts sinks and connectors although the offsets topic is unavailable, and sources when it is not', async () => {
    const { runner, parts, configs, tasks, written } = createTestWorkRunner()
    let isUnavailable = true
    parts.offsets.refresh = async () => {
      if (isUnavailable) throw new Error('the topic has no leader')
    }
    addConnector(configs, 1)
    const sink = { ...START, id: { connector: 's', task: 0 }, config: { 'connector.class': 'FileStreamSink' } }
    const connector = configs.connector('c')!
    await expect(runner.execute([START, { do: 'start-connector', connector }, sink])).rejects.toThrow('no leader')
    expect(tasks.map(({ spec }) => spec.connector)).toEqual(['s'])
    expect(written).toContain('c RUNNING')
    isUnavailable = false
    await runner.execute([START])
    expect(tasks.map(({ spec }) => spec.connector)).toEqual(['s', 'c'])
  })

  it('reads the offsets before it starts tasks, and stores the statuses that tasks report', async () => {
    const { runner, written, tasks } = createTestWorkRunner()
    await runner.execute([START])
    tasks[0]?.report({ type: 'running' })
    tasks[0]?.report({ type: 'failed', trace: 'why' })
    await runner.stopTask(ID)
    expect(written).toEqual(['offsets', 'c-0 RUNNING', 'c-0 FAILED', 'c-0 UNASSIGNED'])
    expect(tasks[0]?.spec).toMatchObject({ ...ID, kind: 'source', config: SOURCE, paused: false })
    expect(runner.workerMetrics().starts).toMatchObject({ taskAttempts: 1, taskFailures: 0 })
  })

  it('stores why a running task retries, until it reports that it runs again', async () => {
    const { runner, tasks, statuses } = createTestWorkRunner()
    await runner.execute([START])
    tasks[0]?.report({ type: 'running', retryTrace: 'no server' })
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING', trace: 'no server' })
    tasks[0]?.report({ type: 'running' })
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING', trace: null })
  })

  it('reports the states of its connectors and tasks as metrics', async () => {
    const { runner, tasks, configs } = createTestWorkRunner()
    addConnector(configs, 1)
    await runner.startConnector(configs.connector('c')!)
    await runner.execute([START])
    const states = () => [...runner.workerMetrics().connectors, ...runner.taskMetrics()].map(({ state }) => state)
    expect(states()).toEqual(['running', 'unassigned'])
    tasks[0]?.report({ type: 'running' })
    expect(states()).toEqual(['running', 'running'])
    configs.apply({ kind: 'target', connector: 'c', target: 'PAUSED' })
    await runner.execute([
      { do: 'set-connector', connector: configs.connector('c')! },
      { do: 'set-task', id: ID, target: 'PAUSED' },
    ])
    expect(states()).toEqual(['paused', 'paused'])
    tasks[0]?.report({ type: 'failed', trace: 'why' })
    expect(states()).toEqual(['paused', 'failed'])
    expect(runner.workerMetrics().connectors).toMatchObject([{ name: 'c', kind: 'source', className: 'Datagen' }])
  })

  it('fails a task whose connector class is not installed, with the remedy', async () => {
    const { runner, statuses, tasks } = createTestWorkRunner()
    await runner.execute([{ ...START, config: { 'connector.class': 'Gone' } }])
    expect(tasks).toEqual([])
    expect(statuses.task('c', 0)?.trace).toContain("there is no connector 'Gone' on this worker")
    expect(runner.workerMetrics().starts.taskFailures).toBe(1)
  })

  it('restarts an interrupted task from its present offsets', async () => {
    let asked = 0
    const { runner, written, tasks } = createTestWorkRunner({ onInterrupted: () => void asked++ })
    await runner.execute([START])
    tasks[0]?.report({ type: 'interrupted', reason: 'a neighbour' })
    expect(asked).toBe(1)
    await runner.restartInterrupted()
    expect(tasks).toHaveLength(2)
    expect(written).toEqual(['offsets', 'offsets'])
    await runner.restartInterrupted()
    expect(tasks).toHaveLength(2)
  })

  it('starts an exactly-once task only after fencing has succeeded, and retries fencing', async () => {
    let refusals = 2
    const fence = async () => {
      if (refusals-- > 0) throw new Error('nobody leads')
    }
    const { runner, written, tasks, clock } = createTestWorkRunner({ fence })
    await runner.execute([START])
    expect(tasks).toEqual([])
    await clock.advance(2_000)
    expect(written).toEqual(['offsets'])
    expect(tasks[0]?.spec.transactionalId).toBe('workers-c-0')
  })

  it('fails an exactly-once task that waits over 90 s for an open transaction, with the remedy, and starts it afterwards', async () => {
    const held = new OpenTransactionError('end it with: kafka-transactions.sh abort', [])
    let isHeld = true
    const fence = async () => {
      if (isHeld) throw held
    }
    const { runner, statuses, tasks, clock } = createTestWorkRunner({ fence })
    await runner.execute([START])
    await clock.advance(60_000)
    expect(statuses.task('c', 0)?.state).not.toBe('FAILED')
    await clock.advance(100_000)
    expect(statuses.task('c', 0)).toMatchObject({ state: 'FAILED', trace: expect.stringContaining(held.message) })
    await clock.advance(5_000)
    expect(runner.workerMetrics().starts.taskFailures).toBe(1)
    isHeld = false
    await clock.advance(60_000)
    tasks[0]?.report({ type: 'running' })
    await clock.advance(0)
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING', trace: null })
    expect(runner.taskMetrics().map(({ state }) => state)).toEqual(['running'])
  })

  it.each([
    ['the offsets topic of the worker', 'refresh'],
    ['the offsets topic of the connector', 'of'],
  ] as const)('ends forgotten transactions that block %s, and then starts the task', async (_, read) => {
    const open = [{ topic: 'offsets', partition: 2 }]
    const fenced: unknown[] = []
    const fence: WorkRunnerOptions['fence'] = async (_, partitions) => void fenced.push(partitions)
    const { runner, parts, tasks, clock } = createTestWorkRunner({ fence })
    const readable = parts.offsets[read].bind(parts.offsets) as () => Promise<never>
    Object.assign(parts.offsets, {
      [read]: async () => {
        if (fenced.length === 1) throw new OpenTransactionError('open', open)
        return readable()
      },
    })
    await runner.execute([START])
    await clock.advance(1_000)
    expect(fenced).toEqual([[], open])
    expect(tasks).toHaveLength(1)
  })

  it('starts other tasks while a config provider is slow for one task', async () => {
    const reading = Promise.withResolvers<void>()
    const { runner, parts, tasks, clock } = createTestWorkRunner()
    const isSlow = (config: RawConfig) => config['secret'] !== undefined
    Object.assign(parts.resolver, {
      hasPlaceholders: isSlow,
      resolve: async (config: RawConfig) => {
        if (isSlow(config)) await reading.promise
        return { config, placeholderValues: new Map() }
      },
    })
    const slow = { ...START, config: { ...SOURCE, secret: '${vault:a}' } }
    await runner.execute([slow, { ...START, id: { connector: 'd', task: 0 } }])
    expect(tasks.map(({ spec }) => spec.connector)).toEqual(['d'])
    reading.resolve()
    await clock.advance(0)
    expect(tasks.map(({ spec }) => spec.connector)).toEqual(['d', 'c'])
  })

  it('reports no failure of a task that was stopped while its placeholders were resolved', async () => {
    const reading = Promise.withResolvers<never>()
    const { runner, parts, written, clock } = createTestWorkRunner()
    Object.assign(parts.resolver, { hasPlaceholders: () => true, resolve: () => reading.promise })
    await runner.execute([START])
    await runner.stopTask(ID)
    reading.reject(new Error('sealed'))
    await clock.advance(0)
    expect(written.at(-1)).toBe('c-0 UNASSIGNED')
  })

  it('does not start a task that was revoked during fencing', async () => {
    const fencing = Promise.withResolvers<void>()
    const { runner, tasks, clock } = createTestWorkRunner({ fence: () => fencing.promise })
    await runner.execute([START])
    await runner.stopTask(ID)
    fencing.resolve()
    await clock.advance(1_000)
    expect(tasks).toEqual([])
  })

  it('cancels a task that does not stop within the timeout', async () => {
    const done: string[] = []
    const host: WorkRunnerOptions['host'] = {
      start: () => ({
        ...{ pause: () => undefined, resume: () => undefined },
        counters: () => expect.unreachable(),
        stop: () => new Promise<never>(() => undefined),
        cancel: () => void done.push('cancel'),
      }),
    }
    const { runner, written } = createTestWorkRunner({ host })
    await runner.execute([START])
    await runner.stopTask(ID)
    expect(done).toEqual(['cancel'])
    expect(written.at(-1)).toBe('c-0 UNASSIGNED')
  })

  it('retries storing task configurations until the leader accepts them, and skips unchanged ones', async () => {
    const stored: number[] = []
    let refusals = 1
    const putTasks = async (_: string, made: readonly unknown[]) => {
      if (refusals-- > 0) throw new Error('nobody leads')
      stored.push(made.length)
    }
    const { runner, configs, clock, written } = createTestWorkRunner({ putTasks })
    configs.apply({ kind: 'connector', connector: 'c', config: { ...SOURCE, 'tasks.max': '3' } })
    await runner.startConnector(configs.connector('c')!)
    expect(written).toEqual(['c RUNNING'])
    await clock.advance(1_000)
    expect(stored).toEqual([3])
  })

  it('stores task configurations in the order of the connector configurations, however long one generation takes', async () => {
    const stored: number[] = []
    const first = Promise.withResolvers<void>()
    const putTasks = async (_: string, made: readonly unknown[]) => {
      if (made.length === 2) await first.promise
      stored.push(made.length)
    }
    const { runner, configs, clock } = createTestWorkRunner({ putTasks })
    for (const tasksMax of ['2', '3']) {
      configs.apply({ kind: 'connector', connector: 'c', config: { ...SOURCE, 'tasks.max': tasksMax } })
      await runner.startConnector(configs.connector('c')!)
      await clock.advance(0)
    }
    first.resolve()
    await clock.advance(0)
    expect(stored).toEqual([2, 3])
  })

  it('stores no task configurations of a connector that was revoked meanwhile', async () => {
    const { runner, configs, clock, stored } = createTestWorkRunner()
    configs.apply({ kind: 'connector', connector: 'c', config: SOURCE })
    await Promise.all([runner.startConnector(configs.connector('c')!), runner.stopConnector('c')])
    await clock.advance(0)
    expect(stored).toEqual([])
  })

  it('does not change the status of a failed task when its connector is paused or resumed', async () => {
    const { runner, tasks } = createTestWorkRunner()
    await runner.execute([START])
    tasks[0]?.report({ type: 'failed', trace: 'why' })
    await runner.execute([{ do: 'set-task', id: ID, target: 'PAUSED' }])
    expect(tasks[0]?.done).toEqual([])
  })

  it('masks secrets in statuses', async () => {
    const { runner, tasks, statuses, parts } = createTestWorkRunner()
    Object.assign(parts.resolver, { mask: (text: string) => text.replace('s3cret', '[hidden]') })
    await runner.execute([START])
    tasks[0]?.report({ type: 'failed', trace: 'can not log in with s3cret' })
    expect(statuses.task('c', 0)?.trace).toBe('can not log in with [hidden]')
  })

  it('fails a connector whose task configurations cannot be generated, until it is restarted or stopped', async () => {
    const { runner, configs, clock, statuses } = createTestWorkRunner()
    addConnector(configs, 0, { ...SOURCE, 'tasks.max': 'many' })
    await runner.startConnector(configs.connector('c')!)
    await clock.advance(0)
    expect(statuses.connector('c')).toMatchObject({ state: 'FAILED', trace: expect.stringContaining('tasks.max') })
    await runner.execute([{ do: 'set-connector', connector: configs.connector('c')! }])
    expect(statuses.connector('c')?.state).toBe('FAILED')
  })
})
