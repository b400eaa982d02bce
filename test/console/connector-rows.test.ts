import { expect, it } from 'vitest'
import { shownState } from '../../src/common/state-glossary.ts'
import { connectorRows, sortConnectors } from '../../src/console/page/connector-rows.ts'

const load = (recordsPerSecond: number | null, lag: number, errors: number) => ({ recordsPerSecond, lag, errors })

it('Connectors are sorted by rate, lag and errors of all workers, the highest first', () => {
  const rows = connectorRows(
    { a: {}, b: {}, none: {} },
    {
      workers: [
        { connectors: { a: load(10, 5, 0), b: load(null, 9, 1) } },
        { connectors: { a: load(20, 7, 0), deleted: load(1, 1, 1) } },
      ],
    },
  )
  expect(rows.map((row) => row.load)).toEqual([load(30, 7, 0), load(null, 9, 1), undefined])
  const sorted = (sort: string) => sortConnectors(rows, sort).map(({ name }) => name)
  expect(sorted('rate')).toEqual(['a', 'b', 'none'])
  expect(sorted('lag')).toEqual(['b', 'a', 'none'])
  expect(sorted('-errors')).toEqual(['none', 'a', 'b'])
})

it('Connectors have no load where the workers keep no metrics', () => {
  expect(connectorRows({ a: {} })[0]?.load).toBeUndefined()
})

it.each([
  ['RUNNING', 'FAILED', 'FAILED'],
  ['FAILED', 'RUNNING', 'FAILED'],
  ['RUNNING', 'UNASSIGNED', 'UNASSIGNED'],
  ['PAUSED', 'PAUSED', 'PAUSED'],
])('A %s connector whose only task is %s is shown as %s, on its page as in lists', (connector, task, shown) => {
  const status = {
    name: 'a',
    type: 'source',
    connector: { state: connector, worker_id: 'w' },
    tasks: [{ id: 0, state: task, worker_id: 'w' }],
  } as const
  expect(shownState(status)).toBe(shown)
  expect(connectorRows({ a: { status } })[0]?.state).toBe(shown)
})
