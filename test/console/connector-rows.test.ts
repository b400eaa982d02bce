import { expect, it } from 'vitest'
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
