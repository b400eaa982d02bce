import { expect, it } from 'vitest'
import { ProcessLoad } from '../../../../src/worker/isolation/tasks/process-load.ts'

/** Reports of a process that needs a whole processor. */
const WINDOW = Array<number>(20).fill(1)

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

it('CPU time of the first window does not count, because it is that of the start; memory does', () => {
  expect(reported([0.5, 1])).toEqual({ average: { cpuUtilization: 0, memoryPart: 0.375 }, ends: 0 })
  expect(reported(WINDOW)).toEqual({ average: { cpuUtilization: 0, memoryPart: 0.5 }, ends: 1 })
})

it('a window of 5 s ends with the 20th report, and its average stays until the next window ends', () => {
  const busy = { average: { cpuUtilization: 1, memoryPart: 0.5 }, ends: 2 }
  expect(reported([...WINDOW, ...WINDOW])).toEqual(busy)
  expect(reported([...WINDOW, ...WINDOW, 0, 0, 0])).toEqual(busy)
  const idle = Array<number>(20).fill(0)
  expect(reported([...WINDOW, ...WINDOW, ...idle]).average).toEqual({ cpuUtilization: 0, memoryPart: 0 })
})
