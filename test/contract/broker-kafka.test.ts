import { openBroker } from '../../src/broker/open.ts'
import { silentLogger } from '../../src/config/logger.ts'
import { describeOn, real } from '../env/real.ts'
import { describeBroker } from './broker.ts'

for (const name of ['kafka', 'kafka3'] as const) {
  const kafka = await real(name)
  describeOn([kafka], name, () => {
    describeBroker(name, () =>
      openBroker(
        { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } },
        { logger: silentLogger() },
      ),
    )
  })
}
