import { expect, it } from 'vitest'
import { defineSink, type SinkTask, z } from '../../../src/sdk/index.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker, produceTexts } from '../../support/topic.ts'

it('a sink task continues with its other topics when one of them is deleted', { tags: ['slow'] }, async () => {
  const broker = await openTestBroker('lines', 'others')
  await produceTexts(broker, 'lines', 'a')
  const seen: unknown[] = []
  const opened: string[] = []
  const sink: SinkTask = {
    open: (partitions) => void opened.push(partitions.map(({ topic }) => topic).join()),
    put: (records) => void seen.push(...records.map(({ value }) => value)),
  }
  const own = defineSink({ class: 'Own', version: '1', summary: 'Own.', config: z.object({}), start: () => sink })
  const worker = { ...TASK_DEFAULTS, commitIntervalMs: 1 }
  const task = startTask(broker, own, { topics: 'lines,others' }, { connector: 'out', worker })
  await expect.poll(async () => (await broker.groups.offsets('connect-out'))[0]?.offset).toBe(1)
  await broker.topics.delete('lines')
  await produceTexts(broker, 'others', 'b')
  await expect.poll(() => seen).toEqual(['a', 'b'])
  await produceTexts(broker, 'others', 'c')
  await expect.poll(() => seen).toEqual(['a', 'b', 'c'])
  // Sooner than by the check for new topics. A recreated topic is then read from its start.
  await expect.poll(() => opened, { timeout: 10_000 }).toEqual(['lines,others', 'others'])
  expect(task.said.map(({ type }) => type)).not.toContain('failed')
})
