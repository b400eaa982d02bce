import { expect, it } from 'vitest'
import { offsetRows, previewOffsets, previewReset } from '../../src/console/page/offset-preview.ts'

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
