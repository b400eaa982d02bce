import { expect, it } from 'vitest'
import { type RuntimeEvent, RuntimeEventBus } from '../../src/operator/runtime-events.ts'
import { FakeClock } from '../support/fake-clock.ts'

const clock = new FakeClock()

it('delivers an event within a second, and repeated events once', async () => {
  const delivered: RuntimeEvent[] = []
  const bus = new RuntimeEventBus(clock, (event) => delivered.push(event))
  const flapping: RuntimeEvent = { worker: 'default', connector: 'orders' }
  for (let count = 0; count < 1_000; count++) bus.publish({ ...flapping })
  bus.publish({ registry: 'default', subject: null })
  expect(delivered).toEqual([])
  await clock.advance(1_000)
  expect(delivered).toEqual([flapping, { registry: 'default', subject: null }])
  bus.publish(flapping)
  await clock.advance(1_000)
  expect(delivered).toHaveLength(3)
})

it('delivers continuous changes of the same object a few times per second', async () => {
  const delivered: RuntimeEvent[] = []
  const bus = new RuntimeEventBus(clock, (event) => delivered.push(event))
  for (let ms = 0; ms < 10_000; ms += 10) {
    bus.publish({ worker: 'default', connector: 'orders' })
    await clock.advance(10)
  }
  expect(delivered.length).toBeGreaterThan(40)
  expect(delivered.length).toBeLessThanOrEqual(50)
})

it('delivers nothing after it is stopped', async () => {
  const delivered: RuntimeEvent[] = []
  const bus = new RuntimeEventBus(clock, (event) => delivered.push(event))
  bus.publish({ worker: 'default', connector: 'orders' })
  bus.stop()
  bus.publish({ worker: 'default', connector: 'orders' })
  await clock.advance(1_000)
  expect(delivered).toEqual([])
})
