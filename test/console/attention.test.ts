import { describe, expect, it } from 'vitest'
import { CONDITION_REASONS } from '../../src/common/state-glossary.ts'
import {
  attentionOfConnectors,
  attentionOfLeadership,
  attentionOfLoads,
  attentionOfOperator,
  attentionOfPlugins,
  attentionOfResources,
  attentionOfRuntime,
  attentionOfWorkers,
  LAG_MAX,
  sortAttention,
} from '../../src/console/page/attention.ts'
import { connectorRows } from '../../src/console/page/connector-rows.ts'
import { declaringResourceOf, type ReportedResource } from '../../src/console/page/resource-rows.ts'
import { taskStates, workerRows } from '../../src/console/page/worker-rows.ts'

const RUNTIME = { kind: 'worker', name: 'default', basePath: '' } as const

const connectors = (trace: string, state = 'FAILED') => ({
  orders: {
    status: {
      name: 'orders',
      type: 'source',
      connector: { state: 'RUNNING', worker_id: 'a:8083' },
      tasks: [
        { id: 0, state, worker_id: 'a:8083', trace },
        { id: 1, state: 'RUNNING', worker_id: 'b:8083' },
      ],
    },
  },
})

const resource = (more: Partial<ReportedResource> = {}): ReportedResource => ({
  kind: 'Connector',
  namespace: 'shop',
  name: 'orders',
  about: '',
  ready: 'False',
  reason: 'ConfigInvalid',
  state: 'ConfigInvalid',
  message: 'spec.config.file is missing',
  isStalled: true,
  since: '',
  runtime: 'default',
  object: 'orders',
  ...more,
})

describe('the next step of a failed connector', () => {
  it.each([
    ['task 0 exceeded the memory limit of its thread (64 MB)', 'raise worker.thread.memory.mb'],
    ['Error: poll blocked its thread for 60000 ms', 'raise worker.thread.blocked.max.ms'],
    ['the task did not start within 60 s', 'raise worker.task.start.timeout.ms'],
    ['task orders-0 ended its process by SIGKILL', 'raise worker.resources.limits.memory'],
    ['Error: the table orders does not exist', 'Correct the configuration or what the trace names'],
  ])('is that of docs/operate.md for the trace "%s"', (trace, step) => {
    const [item] = attentionOfConnectors(RUNTIME, connectorRows(connectors(`${trace}\n\tat a.ts:1`)))
    expect(item).toMatchObject({ tone: 'bad', state: 'FAILED', reason: trace, path: ['connectors', 'orders'] })
    expect(item?.nextStep).toContain(step)
  })

  it('is to wait for the rebalance while no worker runs it', () => {
    const [item] = attentionOfConnectors(RUNTIME, connectorRows(connectors('', 'UNASSIGNED')))
    expect(item).toMatchObject({ tone: 'waiting', state: 'UNASSIGNED' })
    expect(item?.nextStep).toContain('Wait for the rebalance')
  })
})

describe('resources', () => {
  it('have a next step for every reason of a resource that is not Ready', () => {
    const reasons = Object.keys(CONDITION_REASONS)
    expect(reasons.length).toBeGreaterThan(40)
    // The operator is at work, or has nothing to do.
    const working =
      'Succeeded Pending Progressing Creating Updating Resuming Pausing Stopping Restarting AlteringOffsets Registering'
    const without = reasons.filter((reason) => {
      const [item] = attentionOfResources([resource({ reason })], new Set())
      return item?.nextStep === 'Nothing.'
    })
    expect(without).toEqual(working.split(' '))
  })

  it('whose connector is listed with its trace are not listed again', () => {
    const failed = resource({ reason: 'TaskFailed' })
    expect(attentionOfResources([failed], new Set(['default/orders']))).toEqual([])
    expect(attentionOfResources([failed], new Set(['other/orders']))).toHaveLength(1)
    expect(attentionOfResources([resource()], new Set(['default/orders']))).toHaveLength(1)
  })

  it('that wait for the same runtime are one item', () => {
    const waiting = ['a', 'b', 'c'].map((name) =>
      resource({
        name,
        ready: 'Unknown',
        reason: 'WorkerUnreachable',
        message: 'worker default does not respond',
        isStalled: false,
      }),
    )
    const items = attentionOfResources([...waiting, resource()], new Set())
    expect(items.map(({ title }) => title)).toEqual([
      '3 resources wait for the worker default',
      'Connector shop/orders',
    ])
  })

  it('that drift lead to the comparison with what is declared', () => {
    const drifting = resource({ ready: 'True', reason: 'Succeeded', isStalled: false, drift: 'differs in file' })
    expect(attentionOfResources([drifting], new Set())).toEqual([
      expect.objectContaining({
        ...{ tone: 'waiting', state: 'Drifted', reason: 'differs in file' },
        path: ['connectors', 'orders', 'declared'],
        filters: { runtime: 'default' },
      }),
    ])
  })

  it('that drift are listed also if their connector is listed with its trace', () => {
    const failing = resource({ reason: 'TaskFailed', isStalled: false, drift: 'differs in file' })
    const states = attentionOfResources([failing], new Set(['default/orders'])).map(({ state }) => state)
    expect(states).toEqual(['Drifted'])
    const reported = resource({ reason: 'Drifted', isStalled: false, drift: 'differs in file' })
    expect(attentionOfResources([reported], new Set()).map(({ state }) => state)).toEqual(['Drifted'])
  })

  it('that declare the same object are distinguished by the one that owns it', () => {
    const [loser, owner] = [resource({ name: 'a', reason: 'Conflict' }), resource({ name: 'b', ready: 'True' })]
    const wanted = { kind: 'Connector', runtime: 'default', object: 'orders' }
    expect(declaringResourceOf([loser, owner], wanted)).toBe(owner)
    expect(declaringResourceOf([loser], wanted)).toBe(loser)
    expect(declaringResourceOf([loser, owner], { ...wanted, runtime: 'other' })).toBeUndefined()
  })
})

describe('runtimes', () => {
  it('need attention if they do not respond or refuse, and not while the page asks for credentials', () => {
    const state = (status: number) => attentionOfRuntime(RUNTIME, { status, message: 'm' }).map((item) => item.state)
    expect([state(502), state(0), state(403), state(401)]).toEqual([['DOWN'], ['DOWN'], ['REFUSED'], []])
    expect(attentionOfRuntime(RUNTIME, undefined)).toEqual([])
  })

  it('need attention if they are registries without a leader', () => {
    expect(attentionOfLeadership(RUNTIME, { isLeader: false, leader: null })).toHaveLength(1)
    expect(attentionOfLeadership(RUNTIME, { isLeader: true, leader: null })).toEqual([])
    expect(attentionOfLeadership(RUNTIME, { isLeader: false, leader: 'http://b:8081' })).toEqual([])
    expect(attentionOfLeadership(RUNTIME, undefined)).toEqual([])
  })
})

it('An operator needs attention if nothing is reconciled, or a part of its configuration is not in force', () => {
  const healthy = {
    leadership: { identity: 'a', leader: 'b', isForbidden: false },
    isConfigValid: true,
    invalidRuntimes: [],
  }
  const states = (state: Parameters<typeof attentionOfOperator>[0]) =>
    attentionOfOperator(state).map((one) => one.state)
  expect(states(healthy)).toEqual([])
  expect(states({ ...healthy, leadership: null })).toEqual([])
  expect(states({ ...healthy, leadership: { identity: 'a', isForbidden: false } })).toEqual(['NO LEADER'])
  expect(states({ ...healthy, leadership: { identity: 'a', isForbidden: true } })).toEqual(['FORBIDDEN'])
  const invalidRuntimes = [{ kind: 'worker', name: 'x', error: 'url is missing' }]
  expect(states({ ...healthy, isConfigValid: false, invalidRuntimes })).toEqual(['INVALID', 'INVALID'])
})

describe('the group of a worker', () => {
  const metrics = {
    workers: [
      { worker: 'a:8083', connectors: { orders: { recordsPerSecond: 1, lag: LAG_MAX + 1, errors: 0 } } },
      { worker: 'c:8083', connectors: { orders: { recordsPerSecond: null, lag: 5, errors: 2 } } },
    ],
  }

  it('has a row for each worker with what it runs, also for one that runs nothing', () => {
    expect(workerRows(connectors('x'), metrics)).toEqual([
      { worker: 'a:8083', connectors: 1, tasks: 1, failedTasks: 1, process: undefined },
      { worker: 'b:8083', connectors: 0, tasks: 1, failedTasks: 0, process: undefined },
      { worker: 'c:8083', connectors: 0, tasks: 0, failedTasks: 0, process: undefined },
    ])
    expect(taskStates(connectors('x'))).toEqual([
      ['FAILED', 1],
      ['RUNNING', 1],
    ])
  })

  it('reports the highest lag of a connector, and the errors of all its tasks', () => {
    const rows = connectorRows(connectors('x'), metrics)
    const items = attentionOfLoads(RUNTIME, rows, new Set())
    expect(items.map(({ state, reason }) => [state, reason.slice(0, 30)])).toEqual([
      ['LAGGING', 'A partition has 100,001 record'],
      ['ERRORS', '2 records failed in the last h'],
    ])
    expect(items.map(({ path }) => path[2])).toEqual(['metrics', 'log'])
    const [, deadLetters] = attentionOfLoads(RUNTIME, rows, new Set(['orders']))
    expect(deadLetters).toMatchObject({ state: 'DEAD LETTERS', path: ['connectors', 'orders', 'dead-letters'] })
  })
})

it('What does not work is listed before what may resolve itself', () => {
  const [waiting] = attentionOfConnectors(RUNTIME, connectorRows(connectors('', 'UNASSIGNED')))
  const [bad] = attentionOfConnectors(RUNTIME, connectorRows(connectors('x')))
  expect(sortAttention([waiting!, bad!])).toEqual([bad, waiting])
})

it('A plugin that is not loaded is shown with its file and reason, and nothing for workers that do not report it', () => {
  expect(attentionOfPlugins(RUNTIME, undefined)).toEqual([])
  const pluginFaults = [{ file: '/plugins/broken.ts', reason: "Cannot find package 'library'" }]
  expect(attentionOfPlugins(RUNTIME, { pluginFaults, unusedClasses: [] })).toMatchObject([
    { tone: 'bad', state: 'NOT LOADED', title: 'Plugin /plugins/broken.ts', reason: "Cannot find package 'library'" },
  ])
})

it('A worker that statuses name and that is not in the group has left, unless a worker does not respond', () => {
  const process = { isLeader: true, cpu: 0, memoryBytes: 0 }
  const group = { workers: [{ worker: 'a:8083', connectors: {}, process }], missing: [] }
  const rows = workerRows(connectors('', 'RUNNING'), group)
  expect(attentionOfWorkers(RUNTIME, rows, group)).toMatchObject([
    { state: 'WORKER LEFT', title: 'Worker b:8083', filters: { worker: 'b:8083' } },
  ])
  expect(attentionOfWorkers(RUNTIME, rows, { ...group, missing: ['b:8083: refused'] })).toEqual([])
  expect(attentionOfWorkers(RUNTIME, rows, undefined)).toEqual([])
})
