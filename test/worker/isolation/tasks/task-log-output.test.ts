import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../../src/common/logging/logger.ts'
import { TaskLogOutput } from '../../../../src/worker/isolation/tasks/task-log-output.ts'

describe('the log of the tasks of a process', () => {
  it('limits each task on its own, and logs the number of lines dropped for each', () => {
    const { logger, output, lines, runAs } = setUp(10)
    runAs('noisy-0', () => {
      for (let line = 0; line < 1_000; line++) logger.info({ line }, 'a line')
    })
    runAs('quiet-0', () => logger.warn({}, 'a warning'))
    expect(lines.splice(0).map(({ msg }) => msg)).toEqual([...Array.from({ length: 100 }, () => 'a line'), 'a warning'])
    output.reportDropped()
    expect(lines).toEqual([
      {
        ...{ level: 30, connector: 'noisy', task: 0, lines: 900, bytes: expect.any(Number) },
        ...{ linesPerSecond: 10, bytesPerSecond: 1_000_000 },
        msg: 'log lines of a task were dropped: it logs more than worker.task.log.*.per.second allows',
      },
    ])
  })

  it('truncates a line that is too long, and keeps its level, connector and task', () => {
    const { logger, lines, runAs } = setUp(10)
    runAs('long-name-0', () => logger.error({ text: 'x'.repeat(1_000_000) }, 'much'))
    expect(lines).toMatchObject([
      { level: 50, connector: 'long-name', task: 0, msg: 'a log line was too long and is cut' },
    ])
    expect(JSON.stringify(lines).length).toBeLessThan(20_000)
  })
})

function setUp(linesPerSecond: number) {
  let current: string | undefined
  const task = () => current
  const lines: { readonly level: number; readonly msg: string }[] = []
  const output = new TaskLogOutput({
    limits: { linesPerSecond, bytesPerSecond: 1_000_000 },
    monotonicMs: () => 0,
    task,
    send: (line) => lines.push(JSON.parse(line)),
  })
  const runAs = (key: string, work: () => void): void => {
    current = key
    work()
    current = undefined
  }
  const logger = createLogger({ level: 'debug', write: (line) => output.write(line) })
  return { lines, output, runAs, logger }
}
