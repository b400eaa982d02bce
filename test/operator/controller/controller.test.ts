import { describe, expect, it, onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { Controller, type Requeue } from '../../../src/operator/controller/controller.ts'
import { WorkQueue } from '../../../src/operator/controller/work-queue.ts'
import { FakeClock } from '../../support/fake-clock.ts'

function start(reconcile: (key: string, signal: AbortSignal) => Promise<Requeue>, concurrency = 2) {
  const clock = new FakeClock()
  const controller = new Controller<string>({
    queue: new WorkQueue({ clock, flowConcurrency: concurrency }),
    clock,
    logger: silentLogger(),
    reconcile,
  })
  controller.start()
  onTestFinished(() => controller.stop())
  return { clock, controller }
}

describe('Controller', () => {
  it('requeues a key after the delay that the reconcile returns', async () => {
    const loop: string[] = []
    const { clock, controller } = start(async (key) => {
      loop.push(key)
      return loop.length === 1 ? { afterMs: 1_000 } : 'none'
    })
    controller.queue.add('a')
    await clock.advance(900)
    expect(loop).toEqual(['a'])
    await clock.advance(60_000)
    expect(loop).toEqual(['a', 'a'])
  })

  it('retries a reconcile that threw with growing pauses', async () => {
    let loop = 0
    const { clock, controller } = start(async () => {
      loop += 1
      if (loop < 3) throw new Error('a bad moment')
      return 'none'
    })
    controller.queue.add('a')
    await clock.advance(600)
    expect(loop).toBe(2)
    await clock.advance(60_000)
    expect(loop).toBe(3)
  })

  it('reconciles other keys while one reconcile takes long', async () => {
    const done: string[] = []
    const { clock, controller } = start(async (key, signal) => {
      if (key === 'slow') await new Promise((resolve) => signal.addEventListener('abort', resolve))
      else done.push(key)
      return 'none'
    })
    for (const key of ['slow', 'a', 'b', 'c']) controller.queue.add(key)
    await clock.advance(0)
    expect(done).toEqual(['a', 'b', 'c'])
  })

  it('waits for running reconciles when it is stopped, and starts no more', async () => {
    const ended: string[] = []
    const { clock, controller } = start(async (key, signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.push(key)
      return 'none'
    }, 1)
    controller.queue.add('a')
    controller.queue.add('b')
    await clock.advance(0)
    await controller.stop()
    expect(ended).toEqual(['a'])
  })
})
