import { expect, it } from 'vitest'
import { SourceTopicReader } from '../../../src/worker/tasks/source-topic-reader.ts'
import { openTestBroker, produceTexts } from '../../support/topic.ts'

/** Reads at least so many records. */
async function take(reader: SourceTopicReader, count: number): Promise<readonly (readonly [number, string])[]> {
  const taken: (readonly [number, string])[] = []
  while (taken.length < count) {
    for (const { offset, value } of await reader.poll(1_000)) taken.push([offset, String(value)])
  }
  return taken
}

it('reads what is written to a topic after it is opened, or from an offset on', async () => {
  const broker = await openTestBroker('signals')
  await produceTexts(broker, 'signals', 'a', 'b')
  const [fromEnd, fromOffset] = [
    await SourceTopicReader.open({ broker, topic: 'signals', offset: undefined }),
    await SourceTopicReader.open({ broker, topic: 'signals', offset: 1 }),
  ]
  expect(fromEnd.nextOffset).toBe(2)
  await produceTexts(broker, 'signals', 'c')
  expect(await take(fromEnd, 1)).toEqual([[2, 'c']])
  expect(await take(fromOffset, 2)).toEqual([
    [1, 'b'],
    [2, 'c'],
  ])
  expect(fromOffset.nextOffset).toBe(3)
  for (const reader of [fromEnd, fromOffset]) await reader.close()
})

it('reads a topic that is created later from its begin', async () => {
  const broker = await openTestBroker()
  const reader = await SourceTopicReader.open({ broker, topic: 'later', offset: undefined })
  expect([await reader.poll(0), reader.nextOffset]).toEqual([[], 0])
  await broker.topics.create({ name: 'later', partitions: 1 })
  await produceTexts(broker, 'later', 'a')
  expect(await take(reader, 1)).toEqual([[0, 'a']])
  await reader.close()
})

it('reads a topic that was created anew from its begin', async () => {
  const broker = await openTestBroker('signals')
  await produceTexts(broker, 'signals', 'a')
  const reader = await SourceTopicReader.open({ broker, topic: 'signals', offset: 40 })
  expect(await take(reader, 1)).toEqual([[0, 'a']])
  expect(reader.nextOffset).toBe(1)
  await reader.close()
})

it('waits for a topic that is deleted until it is created again', { tags: ['slow'] }, async () => {
  const broker = await openTestBroker('signals')
  await produceTexts(broker, 'signals', 'a')
  const reader = await SourceTopicReader.open({ broker, topic: 'signals', offset: 0 })
  expect(await take(reader, 1)).toEqual([[0, 'a']])
  await broker.topics.delete('signals')
  for (let polls = 0; polls < 3; polls++) expect(await reader.poll(50)).toEqual([])
  await broker.topics.create({ name: 'signals', partitions: 1 })
  await produceTexts(broker, 'signals', 'b', 'c')
  const values: string[] = []
  while (!values.includes('c')) values.push(...(await take(reader, 1)).map(([, value]) => value))
  await reader.close()
})
