import { expect, it } from 'vitest'
import { testLeaderWriter } from '../../support/leader-writer-contract.ts'
import { openTestBroker } from '../../support/topic.ts'

it('opening a leader writer fences the previous one', async () => {
  const broker = await openTestBroker()
  await testLeaderWriter(broker, '_schemas')
  expect(await broker.topics.list()).toContain('_schemas')
})
