import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/common/logging/logger.ts'
import { ProcessLog } from '../../../src/worker/isolation/process-log.ts'
import { FakeClock } from '../../support/fake-clock.ts'

describe('the log of a process of plugin code', () => {
  it("copies a line of a task with its connector, task and error to the worker's log", () => {
    const { written, log } = setUp(10)
    const inProcess: string[] = []
    const error = new TypeError('cannot open it', { cause: new Error('no such file') })
    createLogger({ write: (line) => inProcess.push(line) })
      .child({ connector: 'orders', task: 1 })
      .error({ err: error }, 'the task failed')
    log.write(inProcess[0]!)
    const { time: _, ...expected } = JSON.parse(inProcess[0]!) as { time: string }
    expect(expected).toMatchObject({ connector: 'orders', task: 1, err: { type: 'TypeError' } })
    expect(written).toEqual([{ ...expected, logger: 'tasks', time: expect.any(String) }])
  })

  it('limits the lines of a process to ten times the limit of a task, and logs how many were dropped', async () => {
    const { written, log, clock } = setUp(1)
    for (let line = 0; line < 1_000; line++) log.write('{"level":30,"time":"","msg":"a line"}')
    const passed = written.length
    expect(passed).toBeLessThan(200)
    await clock.advance(5_000)
    log.reportDropped()
    expect(written.at(-1)).toMatchObject({ process: 'tasks-0', lines: 1_000 - passed })
  })

  it("copies each line of the process's output, within the limit of a task, and logs how many were dropped", async () => {
    const { written, log, clock } = setUp(1)
    const pipes = { stdout: new PassThrough(), stderr: new PassThrough() }
    log.follow(pipes)
    pipes.stdout.end(`one\ntwo\n${'x\n'.repeat(1_000)}`)
    pipes.stderr.end('unterminated')
    await setImmediate()
    expect(written.slice(0, 2)).toMatchObject([
      { process: 'tasks-0', stream: 'stdout', msg: 'one' },
      { process: 'tasks-0', stream: 'stdout', msg: 'two' },
    ])
    expect(written.length).toBeLessThan(20)
    expect(log.outputTail.endsWith('unterminated')).toBe(true)
    await clock.advance(5_000)
    log.reportDropped()
    expect(written.at(-1)).toMatchObject({ process: 'tasks-0', lines: expect.any(Number) })
  })
})

function setUp(linesPerSecond: number) {
  const written: Record<string, unknown>[] = []
  const logger = createLogger({ write: (line) => written.push(JSON.parse(line)) }).child({ logger: 'tasks' })
  const clock = new FakeClock()
  const log = new ProcessLog({
    logger,
    fields: () => ({ process: 'tasks-0' }),
    subject: 'a task',
    log: { linesPerSecond, bytesPerSecond: 1_000_000 },
    clock,
  })
  return { written, log, clock }
}
