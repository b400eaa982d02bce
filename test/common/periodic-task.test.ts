import { expect, it } from 'vitest'
import { PeriodicTask } from '../../src/common/periodic-task.ts'
import { FakeClock } from '../support/fake-clock.ts'

it('repeats the job after the delay that the job returns, until it is stopped', async () => {
  const clock = new FakeClock()
  const rounds = new PeriodicTask(clock)
  const doneAtMs: number[] = []
  rounds.start(() => 1_000 * doneAtMs.push(clock.monotonicMs()), 500)
  await clock.advance(7_000)
  expect(doneAtMs).toEqual([500, 1_500, 3_500, 6_500])
  await rounds.stop()
  await clock.advance(60_000)
  expect(doneAtMs).toHaveLength(4)
})

it('waits for the running job when it is stopped', async () => {
  const clock = new FakeClock()
  const rounds = new PeriodicTask(clock)
  const work = Promise.withResolvers<number>()
  rounds.start(() => work.promise)
  let hasStopped = false
  const stopping = rounds.stop().then(() => {
    hasStopped = true
  })
  await clock.advance(1_000)
  expect(hasStopped).toBe(false)
  work.resolve(0)
  await stopping
})
