import { expect, it } from 'vitest'
import { testLeaderWriter } from '../../support/leader-writer-contract.ts'
import { openTestBroker } from '../../support/topic.ts'

it('the pen is one: opening it takes it from whoever had it', async () => {
  const broker = await openTestBroker()
  await testLeaderWriter(broker, '_schemas')
  expect(await broker.topics.list()).toContain('_schemas')
})
