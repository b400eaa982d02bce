import { expect, it } from 'vitest'
import { offsetRows, partitionRow, previewOffsets, previewReset } from '../../src/console/page/offset-preview.ts'

const topic = (partition: number, offset: number) => ({
  partition: { kafka_topic: 'orders', kafka_partition: partition },
  offset: { kafka_offset: offset },
})
const SINK = offsetRows({ offsets: [topic(10, 100), topic(2, 50)] })
const SOURCE = offsetRows({ offsets: [{ partition: { file: 'a' }, offset: { position: 500, snapshot: false } }] })
const keyOf = (rows: typeof SINK, at: number) => rows[at]?.key ?? ''

it('Partitions are in the order of their numbers', () => {
  expect(SINK.map(({ title, text }) => [title, text])).toEqual([
    ['orders, partition 2', '50'],
    ['orders, partition 10', '100'],
  ])
})

it('The preview says how many records are skipped or read again, and contains only changes', () => {
  const back = previewOffsets(SINK, { [keyOf(SINK, 0)]: '20', [keyOf(SINK, 1)]: '100' })
  expect(back.changes).toEqual([
    {
      title: 'orders, partition 2',
      partition: { kafka_topic: 'orders', kafka_partition: 2 },
      offset: { kafka_offset: 20 },
      from: '50',
      to: '20',
      effect: '30 records are read again',
    },
  ])
  const forward = previewOffsets(SINK, { [keyOf(SINK, 1)]: ' 130 ' })
  expect(forward.changes.map(({ effect }) => effect)).toEqual(['30 records are skipped'])
})

it('The offset of a source shows the difference of its numbers', () => {
  const { changes } = previewOffsets(SOURCE, { [keyOf(SOURCE, 0)]: '{"position": 20, "snapshot": false}' })
  expect(changes).toMatchObject([
    { offset: { position: 20, snapshot: false }, effect: 'position back by 480: read again' },
  ])
})

it('A reset deletes every offset', () => {
  expect(previewReset(SINK).changes.map(({ offset, to }) => [offset, to])).toEqual([
    [null, 'deleted'],
    [null, 'deleted'],
  ])
})

it('An offset that cannot be written exactly is refused', () => {
  for (const text of ['-1', '1.5', 'x', '9007199254740993']) {
    const { changes, errors } = previewOffsets(SINK, { [keyOf(SINK, 0)]: text })
    expect(changes).toEqual([])
    expect(Object.keys(errors)).toEqual([keyOf(SINK, 0)])
  }
  for (const text of ['{', '[]', '7', '{"lsn": 9007199254740993}'])
    expect(Object.keys(previewOffsets(SOURCE, { [keyOf(SOURCE, 0)]: text }).errors)).toHaveLength(1)
})

it('A partition without an offset can be named to set its first one', () => {
  const named = partitionRow({ topic: ' orders ', partition: '3' })
  if (typeof named === 'string') throw new Error(named)
  const rows = offsetRows({ offsets: [topic(10, 100)] }, [named])
  expect(rows.map(({ title, text }) => [title, text])).toEqual([
    ['orders, partition 10', '100'],
    ['orders, partition 3', ''],
  ])
  expect(previewOffsets(rows, {}).changes).toEqual([])
  expect(previewReset(rows).changes).toHaveLength(1)
  expect(previewOffsets(rows, { [named.key]: '7' }).changes).toEqual([
    {
      title: 'orders, partition 3',
      partition: { kafka_topic: 'orders', kafka_partition: 3 },
      offset: { kafka_offset: 7 },
      from: 'none',
      to: '7',
      effect: 'starts here',
    },
  ])
  // Somebody else has set it meanwhile.
  expect(offsetRows({ offsets: [topic(3, 8)] }, [named]).map(({ text }) => text)).toEqual(['8'])
  const source = partitionRow({ source: '{"file": "b"}' })
  if (typeof source === 'string') throw new Error(source)
  const { changes } = previewOffsets([source], { [source.key]: '{"position": 5}' })
  expect(changes).toMatchObject([{ partition: { file: 'b' }, offset: { position: 5 }, from: 'none' }])
})

it('A partition that cannot be named exactly is refused', () => {
  for (const partition of ['', '-1', '1.5', 'x', '12345678901'])
    expect(partitionRow({ topic: 'orders', partition })).toMatch(/whole number/)
  for (const source of ['', '{', '[]', '7', 'null', '{"lsn": 9007199254740993}'])
    expect(partitionRow({ source })).toMatch(/^The partition /)
})
