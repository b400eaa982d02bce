import { describe, expect, it } from 'vitest'
import { createTestWorkRunner, SOURCE } from '../../support/work-runner.ts'

describe('a task that was fenced', () => {
  const FENCED = { type: 'failed', trace: 'INVALID_PRODUCER_EPOCH', isFenced: true } as const

  async function fencedTask() {
    let interruptions = 0
    const parts = createTestWorkRunner({ onInterrupted: () => void interruptions++ })
    await parts.runner.execute([
      { do: 'start-task', id: { connector: 'c', task: 0 }, config: SOURCE, target: 'STARTED' },
    ])
    parts.tasks[0]!.report({ type: 'running' })
    parts.tasks[0]!.report(FENCED)
    return { ...parts, interruptions: () => interruptions }
  }

  it('is restarted when the worker would know that it has lost it', async () => {
    const { statuses, clock, interruptions, runner, tasks } = await fencedTask()
    await clock.advance(9_999)
    expect(statuses.task('c', 0)).toMatchObject({ state: 'UNASSIGNED', trace: expect.stringContaining('was fenced') })
    expect(interruptions()).toBe(0)
    await clock.advance(1)
    expect(interruptions()).toBe(1)
    await runner.restartInterrupted()
    tasks[1]!.report({ type: 'running' })
    expect(statuses.task('c', 0)).toMatchObject({ state: 'RUNNING' })
  })

  it('is not restarted by a worker that has lost it', async () => {
    const { runner, clock, interruptions } = await fencedTask()
    runner.halt()
    await clock.advance(10_000)
    await runner.stopAll()
    await clock.advance(10_000)
    expect(interruptions()).toBe(0)
  })

  it.each([
    [60_000, 'FAILED'],
    [60_001, 'UNASSIGNED'],
  ])('%i ms after a restart is %s', async (ms, state) => {
    const { runner, statuses, clock, tasks } = await fencedTask()
    await clock.advance(10_000)
    await runner.restartInterrupted()
    await clock.advance(ms)
    tasks[1]!.report(FENCED)
    expect(statuses.task('c', 0)).toMatchObject({ state })
  })
})
