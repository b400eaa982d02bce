import { describe, expect, it } from 'vitest'
import { CpuLoadMeter } from '../../src/common/code-optimization.ts'

describe('CpuLoadMeter', () => {
  it.each([
    ['a start that takes 700 ms', [250, 250, 200, ...Array<number>(100).fill(5)]],
    ['a process that uses a tenth of a processor', Array<number>(10_000).fill(25)],
    ['a second of work in each minute', Array.from({ length: 2_400 }, (_, at) => (at % 240 < 4 ? 250 : 5))],
  ])('no load: %s', (_name, cpuMs) => {
    const meter = new CpuLoadMeter()
    expect(cpuMs.some((ms) => meter.isUnderLoad(ms, 250))).toBe(false)
  })

  it.each([
    ['a processor in use for more than a second', 4, 250],
    ['a fifth of a processor in use for long', 40, 50],
  ])('load: %s', (_name, checks, cpuMs) => {
    const meter = new CpuLoadMeter()
    const results = Array.from({ length: checks + 1 }, () => meter.isUnderLoad(cpuMs, 250))
    expect(results).toEqual([...Array<boolean>(checks).fill(false), true])
  })
})
