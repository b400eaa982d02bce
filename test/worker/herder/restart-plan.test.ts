import { expect, it } from 'vitest'
import { planRestart } from '../../../src/worker/herder/restart-plan.ts'
import type { StatusState } from '../../../src/worker/stores/status-state.ts'

const status = (state: 'RUNNING' | 'FAILED') => ({ state, workerId: 'w', generation: 1 })

/** A running connector whose second task failed. */
const STATUSES = {
  connector: () => status('RUNNING'),
  tasks: () => [
    [0, status('RUNNING')],
    [1, status('FAILED')],
  ],
} as unknown as Pick<StatusState, 'connector' | 'tasks'>

it.each([
  [
    { includeTasks: false, onlyFailed: false },
    { connector: true, tasks: [] },
  ],
  [
    { includeTasks: true, onlyFailed: false },
    { connector: true, tasks: [0, 1] },
  ],
  [
    { includeTasks: false, onlyFailed: true },
    { connector: false, tasks: [] },
  ],
  [
    { includeTasks: true, onlyFailed: true },
    { connector: false, tasks: [1] },
  ],
])('a restart with %j affects %j', (flags, plan) => {
  expect(planRestart(STATUSES, { kind: 'restart', connector: 'c', ...flags })).toEqual(plan)
})
