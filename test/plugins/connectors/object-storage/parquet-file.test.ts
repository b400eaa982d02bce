import { describe, expect, it } from 'vitest'
import { parquetFormat } from '../../../../src/plugins/connectors/object-storage/parquet-file.ts'
import { headerPart, keyPart, valuePart } from '../../../../src/plugins/connectors/object-storage/record-part.ts'
import { INT32, map, OPTIONAL_STRING, optional, STRING, struct, TIMESTAMP } from '../../../../src/sdk/index.ts'
import { MemoryBucket } from '../../../support/memory-object-store.ts'
import { PartitionLog, sinkSettings } from '../../../support/object-sink-run.ts'

const ORDER = struct('shop.Order', { n: INT32, note: OPTIONAL_STRING, at: optional(TIMESTAMP) })
const orders = Array.from({ length: 300 }, (_, n) => ({ n, note: n % 3 === 0 ? null : `note ${n}`, at: new Date(n) }))

function encoded(values: readonly unknown[], takesAt?: number): Buffer {
  const encoder = parquetFormat('snappy').open(ORDER, 'name')
  const taken: Buffer[] = []
  values.forEach((value, at) => {
    encoder.add(value, ORDER)
    if (at === takesAt) taken.push(encoder.take())
  })
  return Buffer.concat([...taken, encoder.end()])
}

describe('a file of Parquet', () => {
  it('has the same bytes each time', () => {
    expect(encoded(orders, 99).equals(encoded(orders, 99))).toBe(true)
    expect(encoded(orders).subarray(0, 4).toString()).toBe('PAR1')
    expect(encoded(orders, 99).subarray(-4).toString()).toBe('PAR1')
  })

  it('is as before after a value that does not fit, and after one that is removed', () => {
    const encoder = parquetFormat('snappy').open(ORDER, 'name')
    encoder.add(orders[0], ORDER)
    expect(() => encoder.add({ n: 'text' }, ORDER)).toThrow("expected int32 for 'n', got the string")
    expect(() => encoder.add({ note: 'text' }, ORDER)).toThrow("expected int32 for 'n', got null")
    const { length } = encoder
    encoder.add(orders[1], ORDER)
    encoder.removeLast()
    expect(encoder.length).toBe(length)
    encoder.add(orders[2], ORDER)
    expect(encoder.end().equals(encoded([orders[0], orders[2]]))).toBe(true)
  })

  it('contains keys and headers in a struct', async () => {
    const log = new PartitionLog()
    const bucket = new MemoryBucket()
    const format = parquetFormat('none')
    const sink = log.start(sinkSettings({ parts: [valuePart(format), keyPart(format), headerPart(format)] }), bucket)
    await sink.open([log.at])
    const headers = [{ key: 'h', value: 'x', schema: STRING }]
    const record = { key: 'a', keySchema: STRING, valueSchema: ORDER, headers }
    await sink.put([0, 1, 2].map((n) => log.record(n, record)))
    expect(log.rejected).toEqual([])
    const name = 'topics/orders/partition=0/orders+0+0000000000'
    expect([...bucket.objects.keys()].toSorted()).toEqual([
      `${name}.headers.parquet`,
      `${name}.keys.parquet`,
      `${name}.parquet`,
    ])
  })

  it.each([
    ['no schema', null, 'only a struct'],
    ['a schema that is no struct', map(STRING, STRING), 'only a struct'],
    ['a struct without fields', struct('Empty', {}), 'without fields'],
    ['a field that has none', struct('Order', { inner: struct('Empty', {}) }), "the struct 'inner' without fields"],
  ])('is refused for values with %s', (_, schema, problem) => {
    expect(() => parquetFormat('none').open(schema, 'name')).toThrow(problem)
  })
})
