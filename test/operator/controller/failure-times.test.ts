import { expect, it } from 'vitest'
import { FailureTimes } from '../../../src/operator/controller/failure-times.ts'
import { FakeClock } from '../../support/fake-clock.ts'

it('returns how long a resource has been failing, until it is forgotten', async () => {
  const clock = new FakeClock()
  const failureTimes = new FailureTimes(clock)
  expect(failureTimes.record('Connector/default/a')).toBe(0)
  await clock.advance(3_000)
  expect(failureTimes.record('Connector/default/a')).toBe(3_000)
  expect(failureTimes.record('Connector/default/b')).toBe(0)
  await clock.advance(2_000)
  expect(failureTimes.record('Connector/default/a')).toBe(5_000)
  failureTimes.forget('Connector/default/a')
  expect(failureTimes.record('Connector/default/a')).toBe(0)
  expect(failureTimes.record('Connector/default/b')).toBe(2_000)
})

it('is not affected by a change of the wall clock', async () => {
  const clock = new FakeClock()
  const failureTimes = new FailureTimes(clock)
  failureTimes.record('Subject/default/a')
  clock.jump(-86_400_000)
  await clock.advance(1_000)
  expect(failureTimes.record('Subject/default/a')).toBe(1_000)
})
