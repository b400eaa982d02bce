import { expect, it } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { describeOn, real } from '../env/real.ts'
import { describeBroker } from './broker.ts'
import { bytes, newTopic, opened, readAll, records, textOf } from './broker-support.ts'

for (const name of ['kafka', 'kafka3'] as const) {
  const kafka = await real(name)
  describeOn([kafka], name, () => {
    describeBroker(name, () =>
      openBroker(
        { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } },
        { logger: silentLogger() },
      ),
    )

    it('rejects invalid records and stores the other records of the batch', async () => {
      const config = { 'bootstrap.servers': kafka.address.bootstrap }
      const broker = await opened(() => openBroker({ kind: 'kafka', config }, { logger: silentLogger() }))
      const topic = await newTopic(broker, { configs: { 'cleanup.policy': 'compact' } })
      const producer = await broker.producer()
      const keyed = (value: string) => records(topic, [value], { key: bytes(value) })
      const rejections: unknown[] = []
      const sends = Array.from({ length: 4 }, (_, call) =>
        producer.send(
          [...keyed(`${call} a`), ...records(topic, ['no key']), ...keyed(`${call} b`)],
          (index, { code, message }) => rejections.push([call, index, code, message.includes('without key')]),
        ),
      )
      await Promise.all(sends)
      expect(rejections.toSorted()).toEqual(sends.map((_, call) => [call, 1, 'invalid_record', true]))
      expect((await readAll(broker, topic)).map(textOf)).toEqual(sends.flatMap((_, call) => [`${call} a`, `${call} b`]))
    })
  })
}
