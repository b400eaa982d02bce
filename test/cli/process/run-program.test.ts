import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { GRACE_PERIOD_SECONDS, parseGracePeriod } from '../../../src/cli/process/run-program.ts'

it('has a grace period that ends two seconds before the grace period of the chart', () => {
  const template = readFileSync(join(import.meta.dirname, '../../../charts/weir/templates/_pod.tpl'), 'utf8')
  const podSeconds = Number(/terminationGracePeriodSeconds: (\d+)/.exec(template)?.[1])
  const preStopSeconds = Number(/sleep: \{ seconds: (\d+) \}/.exec(template)?.[1])
  expect(podSeconds - preStopSeconds - GRACE_PERIOD_SECONDS).toBe(2)
})

it('parses the grace period in seconds', () => {
  expect(parseGracePeriod()).toBe(GRACE_PERIOD_SECONDS * 1_000)
  expect(parseGracePeriod('0.5')).toBe(500)
  for (const wrong of ['0', '-1', 'soon', ''])
    expect(() => parseGracePeriod(wrong)).toThrow('expected a number of seconds')
})
