import { describe, expect, it } from 'vitest'
import { RowSequence } from '../../../../src/plugins/connectors/cdc/snapshot/row-sequence.ts'

/** The markers of the rows, after steps such as `a3` (three rows of table a) and `a.` (its end). */
function markersOf(steps: string, firstTable = 'a'): string {
  const markers: string[] = []
  const sequence = new RowSequence<string, number>(firstTable, ({ batch, first, last }) => {
    for (let row = 0; row < batch; row += 1) markers.push(row === 0 ? first : row === batch - 1 ? last : 'true')
  })
  for (const [table = '', step] of steps.split(' ')) {
    if (step === '.') sequence.endTable(table)
    else sequence.add(table, Number(step), Number(step))
  }
  sequence.end()
  return markers.map((marker) => marker.replace('_in_data_collection', ' of table')).join(', ')
}

describe('RowSequence', () => {
  it('marks the first and last rows of tables and of the snapshot', () => {
    expect(markersOf('a3 a. b2 b1 b.')).toBe('first, true, last of table, first of table, true, last')
    expect(markersOf('a3 a.')).toBe('first, true, last')
  })

  it('marks the last row of the snapshot if the last tables are empty', () => {
    expect(markersOf('a2 a. b. c.')).toBe('first, last')
    expect(markersOf('a. b.')).toBe('')
  })

  it('marks a single row once', () => {
    expect(markersOf('a1 a.')).toBe('last')
    expect(markersOf('a1 a. b1 b. c1 c.')).toBe('first, last of table, last')
    expect(markersOf('a1 a2 a1 a. b2 b.')).toBe('first, true, true, last of table, first of table, last')
  })

  it('marks rows of tables that are read at the same time', () => {
    expect(markersOf('a2 b2 a1 b. a.')).toBe('first, true, first of table, last of table, last')
  })

  it('marks no first row of the snapshot if its first table is empty', () => {
    expect(markersOf('a. b2 b.')).toBe('first of table, last')
  })
})
