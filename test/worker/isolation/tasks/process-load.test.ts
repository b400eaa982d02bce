import { expect, it } from 'vitest'
import { ProcessLoad } from '../../../../src/worker/isolation/tasks/process-load.ts'

function reported(cpuUtilizations: readonly number[]) {
  const load = new ProcessLoad()
  const ends = cpuUtilizations.filter((cpuUtilization) =>
    load.add({ cpuUtilization, memoryPart: cpuUtilization / 2 }),
  ).length
  return { average: load.average, ends }
}

it('the load of a thread that has reported nothing is zero', () => {
  expect(reported([]).average).toEqual({ cpuUtilization: 0, memoryPart: 0 })
})

it('the load of a new thread is the average of its reports', () => {
  expect(reported([0.5, 1])).toEqual({ average: { cpuUtilization: 0.75, memoryPart: 0.375 }, ends: 0 })
})

it('a window of 5 s ends with the 20th report, and its average stays until the next window ends', () => {
  const first = Array<number>(20).fill(1)
  expect(reported(first)).toEqual({ average: { cpuUtilization: 1, memoryPart: 0.5 }, ends: 1 })
  expect(reported([...first, 0, 0, 0])).toEqual({ average: { cpuUtilization: 1, memoryPart: 0.5 }, ends: 1 })
  expect(reported([...first, ...Array<number>(20).fill(0)]).average).toEqual({ cpuUtilization: 0, memoryPart: 0 })
})
