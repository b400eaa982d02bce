import pino from 'pino'
import { expect, it } from 'vitest'
import { LogLevels, parseLevel } from '../../../src/worker/observability/log-levels.ts'

function createLevels() {
  const lines: string[] = []
  const root = pino(
    { level: 'info', base: null },
    { write: (line) => lines.push((JSON.parse(line) as { msg: string }).msg) },
  )
  return { lines, levels: new LogLevels(root) }
}

it('sets the level of a logger and of all loggers below its name', () => {
  const { lines, levels } = createLevels()
  const tasks = levels.logger('weir.worker.tasks')
  const group = levels.logger('weir.worker.group')
  expect(levels.set('weir.worker.tasks', 'DEBUG', 5)).toEqual(['weir.worker.tasks'])
  tasks.debug('a task')
  group.debug('the group')
  expect(lines).toEqual(['a task'])
  expect(levels.set('weir', 'ERROR', 6)).toEqual(['weir', 'weir.worker.group', 'weir.worker.tasks'])
  tasks.info('a task again')
  expect(lines).toEqual(['a task'])
})

it('changes the level of existing and later child loggers', () => {
  const { lines, levels } = createLevels()
  const tasks = levels.logger('tasks')
  const early = tasks.child({ task: 0 })
  levels.set('tasks', 'TRACE', 5)
  early.trace('early')
  tasks.child({ task: 1 }).trace('late')
  expect(lines).toEqual(['early', 'late'])
  levels.set('root', 'OFF', 6)
  early.fatal('early')
  expect(lines).toHaveLength(2)
})

it('returns the changed loggers and the time of the change', () => {
  const { levels } = createLevels()
  levels.logger('a.b')
  expect(levels.get('a.b')).toEqual({ level: 'INFO', last_modified: null })
  expect(levels.get('a')).toBeUndefined()
  expect(levels.set('a', 'INFO', 7)).toEqual(['a'])
  expect(levels.set('a', 'INFO', 8)).toEqual([])
  levels.apply({ logger: 'a.b', level: 'WARN' }, 9)
  levels.apply({ logger: 'a.b', level: 'LOUD' }, 10)
  expect(levels.list()).toEqual({
    a: { level: 'INFO', last_modified: 7 },
    'a.b': { level: 'WARN', last_modified: 9 },
    root: { level: 'INFO', last_modified: null },
  })
})

it('notifies of changed levels, and has a logger that ignores them', () => {
  const { lines, levels } = createLevels()
  const changes: unknown[] = []
  levels.onChange((changed, level) => changes.push([changed, level]))
  const unfiltered = levels.unfiltered()
  levels.set('org.example', 'WARN', 5)
  levels.set('root', 'OFF', 6)
  expect(changes).toEqual([
    [['org.example'], 'WARN'],
    [['org.example', 'root'], 'OFF'],
  ])
  unfiltered.trace('of another process')
  expect(lines).toEqual(['of another process'])
})

it('accepts level names in any case', () => {
  expect(['debug', 'Off', 'LOUD', 'toString'].map(parseLevel)).toEqual(['DEBUG', 'OFF', undefined, undefined])
})
