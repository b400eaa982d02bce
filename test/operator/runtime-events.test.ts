import { expect, it } from 'vitest'
import { type RuntimeEvent, RuntimeEventBus } from '../../src/operator/runtime-events.ts'
import { FakeClock } from '../support/fake-clock.ts'

const clock = new FakeClock()

it('delivers an event within a second, and repeated events once', async () => {
  const told: RuntimeEvent[] = []
  const desk = new RuntimeEventBus(clock, (news) => told.push(news))
  const flapping: RuntimeEvent = { worker: 'default', connector: 'orders' }
  for (let count = 0; count < 1_000; count++) desk.publish({ ...flapping })
  desk.publish({ registry: 'default', subject: null })
  expect(told).toEqual([])
  await clock.advance(1_000)
  expect(told).toEqual([flapping, { registry: 'default', subject: null }])
  desk.publish(flapping)
  await clock.advance(1_000)
  expect(told).toHaveLength(3)
})

it('delivers continuous changes of the same object a few times per second', async () => {
  const told: RuntimeEvent[] = []
  const desk = new RuntimeEventBus(clock, (news) => told.push(news))
  for (let ms = 0; ms < 10_000; ms += 10) {
    desk.publish({ worker: 'default', connector: 'orders' })
    await clock.advance(10)
  }
  expect(told.length).toBeGreaterThan(40)
  expect(told.length).toBeLessThanOrEqual(50)
})

it('delivers nothing after it is stopped', async () => {
  const told: RuntimeEvent[] = []
  const desk = new RuntimeEventBus(clock, (news) => told.push(news))
  desk.publish({ worker: 'default', connector: 'orders' })
  desk.stop()
  desk.publish({ worker: 'default', connector: 'orders' })
  await clock.advance(1_000)
  expect(told).toEqual([])
})
