import { expect, it } from 'vitest'
import { describePen } from '../../support/registry-pen.ts'
import { openTestLog } from '../../support/topic.ts'

it('the pen is one: opening it takes it from whoever had it', async () => {
  const broker = await openTestLog()
  await describePen(broker, '_schemas')
  expect(await broker.topics.list()).toContain('_schemas')
})
