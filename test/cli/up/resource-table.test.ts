import { expect, it } from 'vitest'
import { renderResourceTable } from '../../../src/cli/up/resource-table.ts'
import { readyConnectorRow } from '../../support/resource-row.ts'

it('shows the records of a connector, and its rate while records move', () => {
  const throughput = new Map([
    ['finished', { records: 99, perSecond: undefined }],
    ['slow', { records: 7, perSecond: 0.3333 }],
    ['fast', { records: 1_234_567, perSecond: 12_345.6 }],
  ])
  const lines = renderResourceTable({
    rows: [...throughput.keys()].map(readyConnectorRow),
    throughput,
    nowMs: 0,
    width: 80,
    height: 24,
  })
  const columns = lines.slice(1).map((line) => line.trim().split(/ {2,}/).slice(1))
  expect(columns).toEqual([
    ['finished', 'Datagen', 'True', 'RUNNING 1/1', '99', '0s'],
    ['slow', 'Datagen', 'True', 'RUNNING 1/1', '7', '0.3/s', '0s'],
    ['fast', 'Datagen', 'True', 'RUNNING 1/1', '1,234,567', '12,346/s', '0s'],
  ])
})
