import { expect, it } from 'vitest'
import { createLogger, onLogLine, secretMaskerOf } from '../../../src/common/logging/logger.ts'
import { ConnectorLogs } from '../../../src/worker/observability/connector-logs.ts'
import { FakeClock } from '../../support/fake-clock.ts'

const LIMITS = { linesMax: 3, charsMax: 1_000, lineCharsMax: 400, totalCharsMax: 2_000 }

function start(onLine?: (connector: string) => void) {
  const clock = new FakeClock()
  const logs = new ConnectorLogs(() => clock.monotonicMs(), onLine, LIMITS)
  const logger = createLogger({ level: 'trace', write: () => undefined })
  const stop = onLogLine(logger, (line) => logs.add(line))
  const messages = (connector: string, after = 0) => logs.read(connector, after).lines.map(({ line }) => line['msg'])
  return { clock, logs, logger, stop, messages }
}

it('Lines are kept by connector, with secrets masked as in the log', () => {
  const { logs, logger, stop } = start()
  secretMaskerOf(logger).add(['hunter2'])
  const child = logger.child({ logger: 'weir.worker.tasks' })
  child.warn({ connector: 'c', task: 0, password: 'x' }, 'log in with hunter2')
  child.info({ err: { connector: 'c' } }, 'not about a connector')
  child.info('no fields, but the text "connector":"c"')
  expect(logs.read('c', 0)).toEqual({
    last: 1,
    lines: [
      {
        number: 1,
        line: expect.objectContaining({
          level: 40,
          logger: 'weir.worker.tasks',
          task: 0,
          password: '[hidden]',
          msg: 'log in with [hidden]',
        }),
      },
    ],
  })
  stop()
  child.warn({ connector: 'c' }, 'later')
  expect(logs.read('c', 1).lines).toEqual([])
})

it('A reader gets the lines after those that it has', () => {
  const { logs, logger, messages } = start()
  logger.info({ connector: 'c' }, 'first')
  const { last } = logs.read('c', 0)
  logger.info({ connector: 'other' }, 'other')
  logger.info({ connector: 'c' }, 'second')
  expect(messages('c', last)).toEqual(['second'])
})

it('The lines of a connector are limited by number and length, and those of all by length', () => {
  const { logs, logger, messages } = start()
  for (const msg of ['1', '2', '3', '4']) logger.info({ connector: 'a' }, msg)
  expect(messages('a')).toEqual(['2', '3', '4'])
  for (const name of ['b', 'c', 'd']) {
    for (let at = 0; at < 3; at++) logger.info({ connector: name }, `${at}${'x'.repeat(250)}`)
    expect(logs.chars).toBeLessThanOrEqual(LIMITS.totalCharsMax)
  }
  // The connector without a line for longest is removed first.
  expect(messages('a')).toEqual([])
  expect(messages('d').length).toBeGreaterThan(1)
  expect(messages('d').join('').length).toBeLessThan(LIMITS.charsMax)
})

it('A line that is too long keeps the beginning of its message', () => {
  const { logs, logger } = start()
  logger.error({ connector: 'c', note: '\u0001"\\'.repeat(5_000) }, '\u0001'.repeat(5_000))
  const [{ line } = { line: {} }] = logs.read('c', 0).lines
  expect(line).toMatchObject({ level: 50, msg: expect.stringContaining('more characters') })
  expect(logs.chars).toBeLessThanOrEqual(LIMITS.lineCharsMax)
})

it('Only somebody who reads the log of a connector learns of new lines, for 30 s', async () => {
  const changed: string[] = []
  const { clock, logs, logger } = start((name) => changed.push(name))
  logger.info({ connector: 'c' }, 'not read yet')
  logs.read('c', 0)
  logger.info({ connector: 'c' }, 'read')
  logger.info({ connector: 'other' }, 'not read')
  await clock.advance(30_001)
  logger.info({ connector: 'c' }, 'not read any more')
  expect(changed).toEqual(['c'])
})

it('The log of a deleted connector is removed', () => {
  const { logs, logger, messages } = start()
  logger.info({ connector: 'c' }, 'line')
  logs.delete('c')
  expect([messages('c'), logs.chars]).toEqual([[], 0])
})
