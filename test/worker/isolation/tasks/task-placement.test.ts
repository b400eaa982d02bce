import { describe, expect, it } from 'vitest'
import { selectProcess, selectTasksToMove } from '../../../../src/worker/isolation/tasks/task-placement.ts'

const IDLE = { cpuUtilization: 0.02, memoryPart: 0.1 }
const BUSY = { cpuUtilization: 0.9, memoryPart: 0.1 }
const FULL = { cpuUtilization: 0.1, memoryPart: 0.6 }

describe('selectProcess', () => {
  const processOf = (name: string, load = IDLE, tasks = 1) => ({ name, load, tasks })

  it.each([
    ['no process exists', [], 4, undefined],
    ['one process is not overloaded', [processOf('a', IDLE, 50)], 4, 'a'],
    ['the only process is busy', [processOf('a', BUSY)], 4, undefined],
    ['the only process has little memory left', [processOf('a', FULL)], 4, undefined],
    ['the only process is busy with its start', [processOf('a', BUSY, 0)], 4, 'a'],
    ['the only process is busy and no further one is allowed', [processOf('a', BUSY)], 1, 'a'],
    ['one of two is busy', [processOf('a', BUSY, 1), processOf('b', IDLE, 20)], 4, 'b'],
    ['one of two has little memory left', [processOf('a', FULL, 1), processOf('b', IDLE, 20)], 4, 'b'],
    [
      'two have about the same load',
      [processOf('a', IDLE, 3), processOf('b', { ...IDLE, cpuUtilization: 0.04 }, 2)],
      4,
      'b',
    ],
  ])('selects a process when %s', (_, processes, processesMax, selected) => {
    expect(selectProcess(processes, processesMax)?.name).toBe(selected)
  })
})

describe('selectTasksToMove', () => {
  const moving = (load: typeof IDLE, ...records: readonly number[]) =>
    selectTasksToMove(
      load,
      records.map((count, task) => ({ task, records: count })),
    ).map(({ task }) => task)

  it('moves nothing while the process is not overloaded', () => {
    expect(moving(IDLE, 1_000, 1_000)).toEqual([])
  })

  it('moves nothing that is alone responsible for the load', () => {
    expect(moving(BUSY, 1_000)).toEqual([])
    expect(moving(BUSY, 0, 1_000, 0)).toEqual([])
    expect(moving(FULL, 0)).toEqual([])
  })

  it('moves one of two equally busy tasks', () => {
    expect(moving(BUSY, 1_000, 1_000)).toEqual([1])
  })

  it('moves a task that is as busy as all others together, and not the others', () => {
    expect(moving(BUSY, 100, 100, 500, 100, 100)).toEqual([2])
  })

  it('moves the tasks with half of the records', () => {
    expect(moving(BUSY, 400, 300, 200, 100, 0).toSorted()).toEqual([1, 2])
  })

  it('moves half of the tasks without records only when memory is short', () => {
    expect(moving(BUSY, 0, 0, 0, 0)).toEqual([])
    expect(moving(FULL, 0, 0, 0, 0)).toHaveLength(2)
  })
})
