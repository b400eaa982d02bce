import { describe } from 'vitest'
import { openBroker } from '../../src/broker/open.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { real } from '../env/real.ts'
import { describeBroker } from './broker.ts'

for (const name of ['kafka', 'kafka3'] as const) {
  const kafka = await real(name)
  describe.skipIf(!kafka)(name, () => {
    describeBroker(`Kafka ${kafka?.version}`, () =>
      openBroker(
        { kind: 'kafka', config: { 'bootstrap.servers': kafka?.bootstrap ?? '' } },
        { logger: silentLogger() },
      ),
    )
  })
}
