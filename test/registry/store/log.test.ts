import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/broker/open.ts'
import { silentLogger } from '../../../src/config/logger.ts'
import { describePen } from '../../support/registry-pen.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

it('the pen is one: opening it takes it from whoever had it', async () => {
  const broker = await openBroker({ kind: 'embedded', directory: temporaryDirectory() }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await describePen(broker, '_schemas')
  expect(await broker.topics.list()).toContain('_schemas')
})
