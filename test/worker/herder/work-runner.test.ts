import { describe, expect, it } from 'vitest'
import type { RawConfig } from '../../../src/sdk/index.ts'
import type { WorkRunnerOptions } from '../../../src/worker/herder/work-runner.ts'
import { localPluginHost } from '../../support/plugin-host.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const ID = { connector: 'c', task: 0 }
const START = { do: 'start-task', id: ID, config: SOURCE, target: 'STARTED' } as const

describe('WorkRunner', () => {
  it('starts sinks and connectors although the offsets topic is unavailable, and sources when it is not', async () => {
    const { runner, parts, configs, statuses, tasks, written } = createTestWorkRunner()
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
    const reason = 'the task cannot start yet: the topic has no leader'
    expect(statuses.task('c', 0)).toMatchObject({ state: 'UNASSIGNED', trace: reason })
    await expect(runner.execute([START])).rejects.toThrow('no leader')
    expect(written.filter((one) => one === 'c-0 UNASSIGNED')).toHaveLength(1)
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

  it('ends its tasks at once when the worker has lost its membership, although a step waits, and starts no other', async () => {
    const reading = Promise.withResolvers<void>()
    const { runner, parts, tasks, written } = createTestWorkRunner()
    await runner.execute([START])
    tasks[0]?.report({ type: 'running' })
    parts.offsets.refresh = () => reading.promise
    const starting = runner.execute([{ ...START, id: { connector: 'd', task: 0 } }])
    runner.halt()
    expect(tasks[0]?.done).toEqual(['stop'])
    reading.resolve()
    await starting
    await runner.stopAll()
    expect(tasks.map(({ done }) => done)).toEqual([['stop']])
    expect(written.slice(2).sort()).toEqual(['c-0 UNASSIGNED', 'd-0 UNASSIGNED'])
    await runner.execute([START])
    expect(tasks).toHaveLength(2)
  })

  it('reports a task that does not start as waiting, with what it waits for, also after it had been running', async () => {
    const { runner, statuses, tasks, clock } = createTestWorkRunner()
    await runner.execute([START])
    tasks[0]?.report({ type: 'running' })
    await runner.stopTask(ID)
    await runner.execute([START])
    await clock.advance(10_000)
    const reason = 'the task has not started for 10 s: it waits for its process, which is started or busy'
    expect(statuses.task('c', 0)).toMatchObject({ state: 'UNASSIGNED', trace: reason })
    tasks[1]?.report({ type: 'running' })
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING', trace: null })
  })

  it.each([
    ['none are generated', [], 0, 'the connector has no tasks, because Datagen generated none'],
    [
      'they are slow to be generated',
      undefined,
      10_000,
      'the tasks are not generated yet: Datagen has not returned for 10 s',
    ],
    ['they cannot be stored', [SOURCE], 0, 'the tasks could not be stored, which is retried: nobody leads'],
  ])('states why a running connector has no tasks when %s', async (_, generated, waitMs, reason) => {
    const { promise, resolve } = Promise.withResolvers<object>()
    const { catalog } = localPluginHost()
    let leads = false
    const { runner, configs, statuses, clock } = createTestWorkRunner({
      plugins: { catalog, call: (() => promise) as unknown as WorkRunnerOptions['plugins']['call'] },
      putTasks: async () => {
        if (generated?.length && !leads) throw new Error('nobody leads')
      },
    })
    addConnector(configs, 0)
    if (generated !== undefined) resolve({ configs: generated, againMs: null })
    await runner.startConnector(configs.connector('c')!)
    await clock.advance(waitMs)
    expect(statuses.connector('c')).toMatchObject({ state: 'RUNNING', trace: reason })
    leads = true
    resolve({ configs: [SOURCE], againMs: null })
    await clock.advance(60_000)
    expect(statuses.connector('c')).toMatchObject({ state: 'RUNNING', trace: generated?.length === 0 ? reason : null })
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

  it('writes the end of work that it has lost in the generation in which it had it, although it has joined again', async () => {
    let generation = 5
    const { runner, configs, statuses, tasks } = createTestWorkRunner({ generation: () => generation })
    addConnector(configs, 1)
    await runner.execute([START, { do: 'start-connector', connector: configs.connector('c')! }])
    tasks[0]?.report({ type: 'running' })
    runner.halt()
    generation = 10
    await runner.stopAll()
    const ended = { state: 'UNASSIGNED', generation: 5 }
    expect([statuses.task('c', 0), statuses.connector('c')]).toMatchObject([ended, ended])
    await runner.startConnector(configs.connector('c')!)
    expect(statuses.connector('c')).toMatchObject({ state: 'RUNNING', generation: 10 })
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
