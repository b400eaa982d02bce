import { describe, expect, it } from 'vitest'
import type { TaskId } from '../../../src/clients/worker-client.ts'
import {
  configuredWork,
  findObsoleteStatuses,
  planWork,
  type StartedWork,
} from '../../../src/worker/herder/work-plan.ts'
import type { ConnectorsAndTasks } from '../../../src/worker/membership/connect-protocol.ts'
import { taskKey } from '../../../src/worker/model/task-key.ts'
import type { StoredTargetState } from '../../../src/worker/stores/config-codec.ts'
import { ConfigState } from '../../../src/worker/stores/config-state.ts'
import { parseStatusRecord } from '../../../src/worker/stores/status-codec.ts'
import { StatusState } from '../../../src/worker/stores/status-state.ts'

const TASK = { connector: 'c', task: 0 }
const WORK = { connectors: ['c'], tasks: [TASK] }

describe('planWork', () => {
  it('starts assigned work and stops work that is not assigned', () => {
    const configs = configured('STARTED')
    expect(planOf(WORK, configs, nothing()).map(({ do: step }) => step)).toEqual(['start-connector', 'start-task'])
    const started = all(configs)
    expect(planOf(WORK, configs, started)).toEqual([])
    expect(planOf({ connectors: [], tasks: [] }, configs, started).map(({ do: step }) => step)).toEqual([
      'stop-task',
      'stop-connector',
    ])
  })

  it('plans only for the given connectors', () => {
    const configs = configured('STARTED')
    expect(planOf(WORK, configs, nothing(), new Set(['other']))).toEqual([])
    expect(planOf({ connectors: [], tasks: [] }, configs, all(configs), new Set(['other']))).toEqual([])
    expect(planOf(WORK, configs, nothing(), new Set(['c']))).toHaveLength(2)
  })

  it('stops deleted connectors and does not start them', () => {
    const before = configured('STARTED')
    const started = all(before)
    const configs = configured('STARTED')
    configs.apply({ kind: 'connector', connector: 'c', config: null })
    expect(planOf(WORK, configs, nothing())).toEqual([])
    expect(planOf(WORK, configs, started).map(({ do: step }) => step)).toEqual(['stop-task', 'stop-connector'])
  })

  it('restarts only the connector or task whose configuration changed', () => {
    const configs = configured('STARTED')
    const started = all(configs)
    configs.apply({ kind: 'connector', connector: 'c', config: { name: 'c', topic: 'new' } })
    expect(planOf(WORK, configs, started).map(({ do: step }) => step)).toEqual(['stop-connector', 'start-connector'])
    const again = all(configs)
    configs.apply({ kind: 'task', ...TASK, config: { topic: 'new' } })
    configs.apply({ kind: 'commit', connector: 'c', tasks: 1 })
    expect(planOf(WORK, configs, again).map(({ do: step }) => step)).toEqual(['stop-task', 'start-task'])
  })

  it('pauses and resumes without a restart, and stops the tasks of a stopped connector', () => {
    const configs = configured('STARTED')
    const started = all(configs)
    const target = (to: StoredTargetState) => {
      configs.apply({ kind: 'target', connector: 'c', target: to })
      return planOf(WORK, configs, started).map(({ do: step }) => step)
    }
    expect(target('PAUSED')).toEqual(['set-task', 'set-connector'])
    expect(target('STOPPED')).toEqual(['stop-task', 'set-connector'])
  })

  it('generates the tasks of a connector again that was stopped and resumed before this worker read either', () => {
    const configs = configured('STARTED')
    const started = all(configs)
    configs.apply({ kind: 'commit', connector: 'c', tasks: 0 })
    for (const target of ['STOPPED', 'STARTED'] as const) configs.apply({ kind: 'target', connector: 'c', target })
    expect(planOf(WORK, configs, started).map(({ do: step }) => step)).toEqual(['stop-task', 'set-connector'])
    expect(planOf(WORK, configs, all(configs))).toEqual([])
  })
})

describe('work and obsolete statuses, derived from the configurations', () => {
  it('configuredWork lists connectors, and tasks only when their set is complete', () => {
    const configs = configured('STARTED')
    expect(configuredWork(configs)).toEqual(WORK)
    configs.apply({ kind: 'commit', connector: 'c', tasks: 2 })
    expect(configuredWork(configs)).toEqual({ connectors: ['c'], tasks: [] })
  })

  it('findObsoleteStatuses lists the statuses of deleted connectors and tasks', () => {
    const statuses = new StatusState()
    const status = JSON.stringify({ state: 'RUNNING', trace: null, worker_id: 'w', generation: 1 })
    for (const key of ['status-connector-c', 'status-task-c-0', 'status-task-c-1', 'status-connector-gone']) {
      statuses.apply(parseStatusRecord(key, status)!)
    }
    expect(findObsoleteStatuses(configured('STARTED'), statuses)).toEqual([
      { kind: 'task', connector: 'c', task: 1 },
      { kind: 'connector', connector: 'gone' },
    ])
  })
})

function configured(target: StoredTargetState): ConfigState {
  const configs = new ConfigState()
  configs.apply({ kind: 'connector', connector: 'c', config: { name: 'c' } })
  configs.apply({ kind: 'target', connector: 'c', target })
  configs.apply({ kind: 'task', ...TASK, config: { name: 'c' } })
  configs.apply({ kind: 'commit', connector: 'c', tasks: 1 })
  return configs
}

function nothing(): StartedWork {
  return { connectors: new Map(), tasks: new Map() }
}

/** The work of a worker that has executed its plan. */
function all(configs: ConfigState): StartedWork {
  const { config, tasks, target, targetRevision } = configs.connector('c')!
  return {
    connectors: new Map([['c', { config, target, targetRevision }]]),
    tasks: new Map(tasks.map((task, at) => [`c-${at}`, { id: { connector: 'c', task: at }, config: task, target }])),
  }
}

/** The plan for all connectors, or for those in `only`. A plan for `c` alone must be the same. */
function planOf(work: ConnectorsAndTasks, configs: ConfigState, started: StartedWork, only?: ReadonlySet<string>) {
  const owned = new Set([...work.connectors, ...work.tasks.map(taskKey)])
  const has = (one: string | TaskId) => owned.has(typeof one === 'string' ? one : taskKey(one))
  const steps = planWork({ work, has }, configs, started, only)
  if (only === undefined) expect(planWork({ work, has }, configs, started, new Set(['c']))).toEqual(steps)
  return steps
}
