import { expect, it } from 'vitest'
import { renderResourceTable } from '../../../src/cli/up/resource-table.ts'
import type { ResourceRow } from '../../../src/operator/main.ts'

it('shows the records of a connector, and its rate while records move', () => {
  const throughput = new Map([
    ['finished', { records: 99, perSecond: undefined }],
    ['slow', { records: 7, perSecond: 0.3333 }],
    ['fast', { records: 1_234_567, perSecond: 12_345.6 }],
  ])
  const lines = renderResourceTable({
    rows: [...throughput.keys()].map(row),
    throughput,
    nowMs: 0,
    width: 80,
    height: 24,
  })
  const columns = lines.slice(1).map((line) => line.trim().split(/ {2,}/).slice(1))
  expect(columns).toEqual([
    ['finished', 'Datagen', 'True', 'Running 1/1', '99', '0s'],
    ['slow', 'Datagen', 'True', 'Running 1/1', '7', '0.3/s', '0s'],
    ['fast', 'Datagen', 'True', 'Running 1/1', '1,234,567', '12,346/s', '0s'],
  ])
})

it('shows control characters of a message as their codes', () => {
  const rows = [{ ...row('a'), message: 'bad value \u001b[2J\u202e' }]
  const [, line] = renderResourceTable({ rows, throughput: new Map(), nowMs: 0, width: 200, height: 24 })
  expect(line).toMatch(/bad value \\u001b\[2J\\u202e$/)
})

function row(name: string): ResourceRow {
  const resource = { kind: 'Connector', spec: {}, metadata: { name }, status: { state: 'RUNNING' } }
  return {
    ...{ kind: 'Connector', namespace: 'default', name, about: 'Datagen', ready: 'True', reason: 'Succeeded' },
    ...{ message: 'running, 1 task', isStalled: false, tasks: '1/1', since: new Date(0).toISOString() },
    resource: resource as unknown as NonNullable<ResourceRow['resource']>,
  }
}
