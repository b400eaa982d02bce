import { expect, it } from 'vitest'
import {
  type ConnectorLogPart,
  filterLines,
  LINES_MAX,
  type LogLine,
  mergeLines,
  nextPosition,
  positionAfter,
} from '../../src/console/page/log-lines.ts'

const HOSTILE = '<img src=x onerror="alert(1)">'

function part(run: string, last: number, lines: ConnectorLogPart['lines'] = []): ConnectorLogPart {
  return { worker: `${run}:8083`, run, last, lines }
}

const response = (...workers: readonly ConnectorLogPart[]) => ({ workers, missing: [] })
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()

it('The lines of several workers are shown in the order of time, each once', () => {
  const first = mergeLines(
    [],
    response(
      part('a', 2, [
        { number: 1, line: { time: at(1), level: 'info', msg: 'a1' } },
        { number: 2, line: { time: at(4), level: 'info', msg: 'a2' } },
      ]),
      part('b', 9, [{ number: 9, line: { time: at(2), level: 'warn', msg: 'b9' } }]),
    ),
  )
  const again = response(part('a', 2, [{ number: 2, line: { time: at(4), level: 'info', msg: 'a2' } }]))
  expect(mergeLines(first, again).map(({ message }) => message)).toEqual(['a1', 'b9', 'a2'])
  expect(mergeLines(first, response(part('a', 2)))).toBe(first)
})

it('A line has the level of its name or number, its task, and the other fields as details', () => {
  const [line] = mergeLines(
    [],
    response(
      part('a', 1, [
        {
          number: 1,
          line: {
            time: at(0),
            level: 50,
            program: 'worker',
            logger: 'weir.worker.tasks',
            task: 3,
            topic: HOSTILE,
            err: { type: 'Error', message: 'boom', stack: 'Error: boom\n    at f' },
            msg: 'the task failed',
          },
        },
      ]),
    ),
  )
  expect(line).toEqual({
    key: 'a:1',
    worker: 'a:8083',
    time: Date.UTC(2026, 0, 1),
    level: 'error',
    logger: 'weir.worker.tasks',
    task: 3,
    message: 'the task failed: Error: boom',
    details: ` "topic": ${JSON.stringify(HOSTILE)}\nError: boom\n    at f`,
  })
})

it('The reason of a line is shown with its message', () => {
  const line = { level: 'warn', reason: 'its task process was overloaded', msg: 'the task was interrupted' }
  const [shown] = mergeLines([], response(part('a', 1, [{ number: 1, line }])))
  expect(shown?.message).toBe('the task was interrupted: its task process was overloaded')
})

it('A line without the usual fields is shown as well', () => {
  const [line] = mergeLines([], response(part('a', 1, [{ number: 1, line: { level: 'strange', err: 7 } }])))
  expect(line).toMatchObject({ level: 'info', time: 0, message: '{}', task: undefined })
})

it('The next request asks for the lines after those of each worker', () => {
  const first = nextPosition(new Map(), response(part('a', 5), part('b', 7)))
  expect(positionAfter(first)).toBe('a:5,b:7')
  // A worker that does not respond keeps its position.
  expect(positionAfter(nextPosition(first, response(part('b', 8))))).toBe('a:5,b:8')
  expect(positionAfter(new Map())).toBe('')
})

it('The page keeps a limited number of lines', () => {
  const lines = Array.from({ length: LINES_MAX + 5 }, (_, number) => ({
    number,
    line: { time: at(number), level: 'info', msg: `${number}` },
  }))
  const kept = mergeLines([], response(part('a', 1, lines)))
  expect([kept.length, kept[0]?.message]).toEqual([LINES_MAX, '5'])
})

it('Lines are filtered by the lowest level and by text', () => {
  const line = (level: LogLine['level'], message: string): LogLine => ({
    key: message,
    worker: 'a:8083',
    time: 0,
    level,
    logger: '',
    task: undefined,
    message,
    details: '',
  })
  const lines = [line('debug', 'one'), line('info', 'Two'), line('error', 'three')]
  const found = (filters: object) => filterLines(lines, filters).map(({ message }) => message)
  expect(found({})).toEqual(['one', 'Two', 'three'])
  expect(found({ level: 'info' })).toEqual(['Two', 'three'])
  expect(found({ level: 'unknown', search: 'TWO' })).toEqual(['Two'])
})
