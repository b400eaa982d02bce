import { expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/config/logger.ts'
import { WorkerObserver } from '../../../src/operator/connector/observer.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { FakeWorker } from '../../support/fake-worker.ts'

it('tells each connector that came, changed or went since the last look, and none that stayed', async () => {
  const [clock, worker] = [new FakeClock(), new FakeWorker()]
  const told: string[] = []
  const onChange = (name: string) => told.push(name)
  const parts = { worker, clock, logger: silentLogger(), intervalMs: 30_000, onChange }
  const look = async () => {
    told.length = 0
    await clock.advance(30_000)
    return [...told].sort()
  }
  for (const name of ['a', 'b', 'c']) await worker.create(name, {}, 'RUNNING')
  const observer = new WorkerObserver(parts)
  observer.start()
  onTestFinished(() => observer.stop())
  await clock.advance(0)
  expect(told.sort()).toEqual(['a', 'b', 'c'])
  expect(await look()).toEqual([])
  await worker.putConfig('a', { topic: 'x' })
  await worker.delete('b')
  await worker.create('d', {}, 'RUNNING')
  expect(await look()).toEqual(['a', 'b', 'd'])
  // It goes on after a look that failed, and knows what it knew.
  const { list } = worker
  worker.list = () => Promise.reject(new Error('no answer'))
  expect(await look()).toEqual([])
  worker.list = list
  await worker.pause('c')
  expect(await look()).toEqual(['c'])
})
