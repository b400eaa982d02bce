import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LineOutput } from '../../../../src/worker/isolation/plugins/line-output.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('forwards complete lines once a second, truncates long lines and counts dropped ones', () => {
  const passed: (readonly [readonly string[], number])[] = []
  const output = new LineOutput((lines, dropped) => void passed.push([lines, dropped]))
  output.write('one\ntw')
  output.write(`o\n${'x'.repeat(5_000)}\nrest`)
  vi.advanceTimersByTime(1_000)
  output.write('\n'.repeat(150))
  vi.advanceTimersByTime(1_000)
  expect(passed[0]).toEqual([['one', 'two', 'x'.repeat(2_000)], 0])
  expect(passed[1]?.[0][0]).toBe('rest')
  expect([passed[1]?.[0].length, passed[1]?.[1]]).toEqual([100, 50])
})
