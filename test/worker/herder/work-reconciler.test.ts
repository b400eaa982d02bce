import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import type { LeaderDuties } from '../../../src/worker/herder/leader-duties.ts'
import { WorkReconciler } from '../../../src/worker/herder/work-reconciler.ts'
import type { ConnectorsAndTasks } from '../../../src/worker/membership/connect-protocol.ts'
import { watched } from '../../support/watched.ts'
import { addConnector, createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

const ALL: ConnectorsAndTasks = { connectors: ['c'], tasks: [0, 1].map((task) => ({ connector: 'c', task })) }

describe('WorkReconciler', () => {
  it('starts and stops work as assigned; only the leader deletes obsolete records', async () => {
    const { reconciler, group, runner, cleanUps } = createReconciler()
    await reconciler.onAssigned()
    expect([...runner.tasks.keys()]).toEqual(['c-0', 'c-1'])
    expect(cleanUps()).toBe(0)
    group.isLeader = true
    group.work = { connectors: [], tasks: [{ connector: 'c', task: 1 }] }
    await reconciler.onAssigned()
    expect([...runner.tasks.keys()]).toEqual(['c-1'])
    expect(cleanUps()).toBe(1)
  })

  it('has cleaned up when it has started, but no rebalance waits for that', async () => {
    const cleaning = Promise.withResolvers<void>()
    const { reconciler, group, leader } = createReconciler()
    group.isLeader = true
    leader.cleanUp = () => cleaning.promise
    await reconciler.onAssigned()
    const starting = watched(reconciler.start().then(() => 'started'))
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    expect(starting.outcome).toBeUndefined()
    cleaning.resolve()
    await expect.poll(() => starting.outcome).toBe('started')
  })

  it('processes simultaneous changes together, and notifies the group', async () => {
    const { reconciler, group, tasks } = createReconciler()
    await reconciler.onAssigned()
    group.rebalanceChecks = 0
    for (let change = 0; change < 5; change++) reconciler.wake()
    await reconciler.onAssigned()
    expect(group.rebalanceChecks).toBe(2)
    expect(tasks).toHaveLength(2)
  })

  it('processes only changed connectors, and all connectors after a rebalance', async () => {
    const { reconciler, runner } = createReconciler()
    reconciler.wake('other')
    await reconciler.isResponding()
    expect([...runner.tasks.keys()]).toEqual([])
    reconciler.wake('other')
    reconciler.wake('c')
    await reconciler.isResponding()
    expect([...runner.tasks.keys()]).toEqual(['c-0', 'c-1'])
    await runner.stopAll()
    await reconciler.onAssigned()
    expect([...runner.tasks.keys()]).toEqual(['c-0', 'c-1'])
  })

  it('starts no work, and stops what is not its own any more, while it may not start work, and starts it afterwards', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reconciler, runner, group, configs, tasks } = createReconciler()
    const retry = async () => {
      vi.runOnlyPendingTimers()
      await reconciler.isResponding()
    }
    await reconciler.onAssigned()
    group.mayStartWork = false
    group.work = { connectors: ['d'], tasks: [{ connector: 'c', task: 1 }] }
    configs.apply({ kind: 'connector', connector: 'd', config: { ...SOURCE, name: 'd' } })
    addConnector(configs, 2)
    await reconciler.onAssigned()
    expect([[...runner.tasks.keys()], [...runner.connectors.keys()]]).toEqual([[], []])
    await expect(reconciler.restartTask({ connector: 'c', task: 1 })).rejects.toMatchObject({ code: 'rebalancing' })
    await expect(reconciler.restartConnector('d')).rejects.toMatchObject({ code: 'rebalancing' })
    await retry()
    expect(tasks).toHaveLength(2)
    for (let change = 0; change < 5; change++) {
      reconciler.wake('c')
      reconciler.onInterrupted()
      await reconciler.isResponding()
    }
    // One for each kind of retry.
    expect(vi.getTimerCount()).toBe(2)
    group.mayStartWork = true
    await retry()
    expect([[...runner.tasks.keys()], [...runner.connectors.keys()]]).toEqual([['c-1'], ['d']])
  })

  it('restarts interrupted tasks, and those of a restart request, only when it may start work', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reconciler, group, tasks } = createReconciler()
    await reconciler.onAssigned()
    for (const { report } of tasks) report({ type: 'running' })
    group.mayStartWork = false
    tasks[0]?.report({ type: 'interrupted', reason: 'its process ended' })
    reconciler.onInterrupted()
    reconciler.onRestart({ kind: 'restart', connector: 'c', includeTasks: true, onlyFailed: false })
    await reconciler.isResponding()
    expect([tasks.length, tasks[1]?.done]).toEqual([2, ['stop']])
    group.mayStartWork = true
    vi.runOnlyPendingTimers()
    await reconciler.isResponding()
    expect(tasks.slice(2).map(({ spec }) => spec.task)).toEqual([0, 1])
  })

  it('stops all work when it is removed from the group', async () => {
    const { reconciler, runner, tasks } = createReconciler()
    await reconciler.onAssigned()
    await reconciler.onLost()
    expect([runner.tasks.size, runner.connectors.size]).toEqual([0, 0])
    expect(tasks.map(({ done }) => done)).toEqual([['stop'], ['stop']])
  })

  it('restarts only failed tasks when onlyFailed is set', async () => {
    const { reconciler, tasks, written } = createReconciler()
    await reconciler.onAssigned()
    for (const { report } of tasks) report({ type: 'running' })
    tasks[1]?.report({ type: 'failed', trace: 'why' })
    await reconciler.restartTask({ connector: 'c', task: 0 })
    written.length = 0
    reconciler.onRestart({ kind: 'restart', connector: 'c', includeTasks: true, onlyFailed: true })
    await reconciler.onAssigned()
    expect(written).toEqual(['c-1 RESTARTING', 'offsets'])
  })

  it('retries the start of a task that failed to start after a restart', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { reconciler, runner, parts } = createReconciler()
    await reconciler.onAssigned()
    const { refresh } = parts.offsets
    Object.assign(parts.offsets, { refresh: () => Promise.reject(new Error('not read to its end')) })
    await expect(reconciler.restartTask({ connector: 'c', task: 1 })).rejects.toThrow('not read to its end')
    expect([...runner.tasks.keys()]).toEqual(['c-0'])
    Object.assign(parts.offsets, { refresh })
    vi.runAllTimers()
    await reconciler.isResponding()
    expect([...runner.tasks.keys()]).toEqual(['c-0', 'c-1'])
  })

  it('rejects the restart of an unknown connector or task', async () => {
    const { reconciler } = createReconciler()
    await expect(reconciler.restartTask({ connector: 'c', task: 9 })).rejects.toMatchObject({ code: 'task_not_found' })
    await expect(reconciler.restartConnector('d')).rejects.toMatchObject({ code: 'connector_not_found' })
  })
})

function createReconciler() {
  const testRunner = createTestWorkRunner()
  addConnector(testRunner.configs, 2)
  let cleanUps = 0
  const group = {
    work: ALL,
    has: () => true,
    isLeader: false,
    mayStartWork: true,
    rebalanceChecks: 0,
    rebalanceIfWorkChanged() {
      group.rebalanceChecks += 1
    },
  }
  const leader = { cleanUp: async (): Promise<void> => void cleanUps++ }
  const reconciler = new WorkReconciler({
    ...testRunner.parts,
    logger: silentLogger(),
    runner: testRunner.runner,
    leader: leader as unknown as LeaderDuties,
    group: () => group,
  })
  return { ...testRunner, reconciler, group, leader, cleanUps: () => cleanUps }
}
