import { describe, expect, it } from 'vitest'
import { ChunkSize } from '../../../../src/plugins/connectors/cdc/signals/chunk-size.ts'

const rowsOf = (count: number, characters: number) =>
  Array.from({ length: count }, () => ['x'.repeat(characters), null])

describe('the size of a chunk', () => {
  it('is that of the configuration when the rows are small, after a first chunk', () => {
    const size = new ChunkSize(1024)
    expect(size.rows).toBe(64)
    size.onRead(rowsOf(64, 100))
    expect(size.rows).toBe(1024)
    size.onRead([])
    expect(size.rows).toBe(1024)
  })

  it('is smaller when the rows are large, and one row at least', () => {
    const size = new ChunkSize(1024)
    size.onRead(rowsOf(4, 1_000_000))
    expect(size.rows).toBe(16)
    size.onRead(rowsOf(1, 20_000_000))
    expect(size.rows).toBe(1)
    size.reset()
    expect(size.rows).toBe(64)
  })

  it('is never more than that of the configuration', () => {
    const size = new ChunkSize(10)
    expect(size.rows).toBe(10)
    size.onRead(rowsOf(10, 1))
    expect(size.rows).toBe(10)
  })
})
