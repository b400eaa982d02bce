import { expect, it } from 'vitest'
import { defineSink, z } from '../../../src/sdk/index.ts'
import { poll } from '../../support/concurrent-tests.ts'
import { startTask, TASK_DEFAULTS } from '../../support/task.ts'
import { openTestBroker, produceTexts } from '../../support/topic.ts'

it('commits offsets with metadata when a sink asks for it, and those that flush returns', async () => {
  const broker = await openTestBroker('lines')
  await produceTexts(broker, 'lines', 'a', 'b')
  const at = { topic: 'lines', partition: 0 }
  const read: unknown[] = []
  const own = defineSink({
    class: 'Own',
    version: '1',
    summary: 'Own.',
    config: z.object({}),
    start: ({ commitOffsets, committedOffsets, requestCommit }) => ({
      async put(records) {
        await commitOffsets([{ ...at, offset: 0, metadata: 'ends at 2' }])
        read.push(...(await committedOffsets([at])))
        if (records.length > 0) requestCommit()
      },
      flush: () => [{ ...at, offset: 1, metadata: 'one is left' }],
    }),
  })
  const task = startTask(broker, own, { topics: 'lines' }, { connector: 'out', worker: TASK_DEFAULTS })
  await poll(() => task.counters.commits).toBe(1)
  expect(read[0]).toEqual({ ...at, offset: 0, metadata: 'ends at 2' })
  expect(await broker.groups.offsets('connect-out')).toEqual([{ ...at, offset: 1, metadata: 'one is left' }])
})
