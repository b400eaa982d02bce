import { describe, expect, it } from 'vitest'
import { Lifecycle, partsBeingStopped, startAll } from '../../src/common/lifecycle.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'

describe('lifecycle', () => {
  it('stops once, in reverse order, and continues after a part that fails to stop', async () => {
    const stopped: string[] = []
    let held: Lifecycle | undefined
    await startAll(silentLogger(), async (life) => {
      held = life
      for (const name of ['broker', 'registry', 'worker']) {
        life.onStop(name, () => {
          stopped.push(name)
          if (name === 'registry') throw new Error('stuck')
        })
      }
    })
    await Promise.all([held?.stop(), held?.stop()])
    expect(stopped).toEqual(['worker', 'registry', 'broker'])
  })

  it('continues after a part that does not stop in time, and names it', async () => {
    const life = new Lifecycle(silentLogger())
    const stopped: string[] = []
    life.onStop('broker', () => stopped.push('broker'))
    const stuck = Promise.withResolvers<void>()
    life.onStop('tasks', () => stuck.promise, 1)
    await life.stop()
    expect(stopped).toEqual(['broker'])
    expect(partsBeingStopped()).toEqual(['tasks'])
    stuck.resolve()
    await expect.poll(partsBeingStopped).toEqual([])
  })

  it('stops all started parts when a later part fails to start', async () => {
    const stopped: string[] = []
    const start = startAll(silentLogger(), async (life) => {
      life.onStop('broker', () => stopped.push('broker'))
      throw new Error('port in use')
    })
    await expect(start).rejects.toThrow('port in use')
    expect(stopped).toEqual(['broker'])
  })
})
