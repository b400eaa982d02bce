import { afterAll, beforeAll, expect, it } from 'vitest'
import { API_REQUIREMENTS, neededVersions } from '../../src/broker/kafka/api-requirements.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { describeOn, real } from '../env/real.ts'
import { describeConcurrently } from '../support/concurrent-tests.ts'
import { kafkaVersions } from '../support/kafka-versions.ts'
import { openVersionLimitingProxy, type VersionLimitingProxy } from '../support/version-limiting-proxy.ts'
import { describeBroker } from './broker.ts'
import { describeGroups } from './broker-groups.ts'
import { describeLog } from './broker-log.ts'
import { describeStaticMembers } from './broker-static.ts'
import { bytes, newTopic, opened, readAll, records, textOf } from './broker-support.ts'
import { describeTransactions } from './broker-transactions.ts'

for (const { version, part } of kafkaVersions(['4.4.0', '4.3.1', '3.9.2', '3.3.2'])) {
  const kafka = await real(part)
  describeOn([kafka], `Kafka ${version}`, () => {
    describeBroker(`Kafka ${version}`, () =>
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

const latest = await real('kafka')
describeOn([latest], 'a broker with earlier versions of its APIs', () => {
  const needed = API_REQUIREMENTS.flatMap(({ apis }) => apis).map(
    (api) => [api.key, neededVersions(api).at(-1)!] as const,
  )
  // Some APIs are the same one in two versions.
  const limits = new Map(needed.toSorted(([, one], [, other]) => other - one))
  let proxy: VersionLimitingProxy | undefined
  beforeAll(async () => {
    proxy = await openVersionLimitingProxy(latest.address.bootstrap, limits)
  })
  afterAll(() => proxy?.stop())

  const open = () =>
    openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': latest.address.bootstrap } },
      { logger: silentLogger(), access: proxy!.access },
    )
  // Without the state topic, which recognizes each recreated topic only by its id.
  describeConcurrently('the log', () => {
    describeLog(open)
    describeTransactions(open)
    describeGroups(open)
    describeStaticMembers(open)
  })
})
