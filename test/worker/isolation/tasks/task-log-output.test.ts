import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../../src/config/logger.ts'
import { TaskLogOutput } from '../../../../src/worker/isolation/tasks/task-log-output.ts'

describe('the log of the tasks of a thread', () => {
  it('limits each task by itself, and says how much of which was dropped', () => {
    const { logger, output, lines, as } = setUp(10)
    as('noisy-0', () => {
      for (let line = 0; line < 1_000; line++) logger.info({ line }, 'a line')
    })
    as('quiet-0', () => logger.warn({}, 'heard'))
    expect(lines.splice(0).map(({ msg }) => msg)).toEqual([...Array.from({ length: 100 }, () => 'a line'), 'heard'])
    output.reportDropped()
    expect(lines).toEqual([
      {
        ...{ level: 30, source: 'noisy-0', lines: 900, bytes: expect.any(Number) },
        ...{ linesPerSecond: 10, bytesPerSecond: 1_000_000 },
        msg: 'log lines of a task were dropped: it logs more than worker.task.log.*.per.second allows',
      },
    ])
  })

  it('cuts a line that is too long, and keeps its level and task', () => {
    const { logger, lines, as } = setUp(10)
    as('long-0', () => logger.error({ text: 'x'.repeat(1_000_000) }, 'much'))
    expect(lines).toMatchObject([{ level: 50, source: 'long-0', msg: 'a log line was too long and is cut' }])
    expect(JSON.stringify(lines).length).toBeLessThan(20_000)
  })
})

function setUp(linesPerSecond: number) {
  let task: string | undefined
  const lines: { readonly level: number; readonly msg: string }[] = []
  const output = new TaskLogOutput({
    limits: { linesPerSecond, bytesPerSecond: 1_000_000 },
    monotonicMs: () => 0,
    task: () => task,
    send: (line) => lines.push(JSON.parse(line)),
  })
  const as = (key: string, work: () => void): void => {
    task = key
    work()
    task = undefined
  }
  return { lines, output, as, logger: createLogger({ level: 'debug', write: (line) => output.write(line) }) }
}
