import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { replayDeadLetters } from '../../src/dead-letters/replay.ts'

it('replays records that are larger than the default maximum of a producer', async () => {
  const broker = await openBroker({ kind: 'embedded', directory: ':memory:' }, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  for (const name of ['dead', 'orders'])
    await broker.topics.create({ name, configs: { 'max.message.bytes': '5000000' } })
  const producer = await broker.producer({ recordBytesMax: 5_000_000 })
  const headers = [['__connect.errors.topic', Buffer.from('orders')]] as const
  await producer.send([{ topic: 'dead', key: null, value: Buffer.alloc(2_000_000, 1), headers }])
  const result = await replayDeadLetters(broker, {
    topic: 'dead',
    targetTopic: undefined,
    matches: () => true,
    targetProblem: () => undefined,
    groupId: 'replay',
    fromBeginning: false,
    isDryRun: false,
    onRejected: () => {},
  })
  expect(result).toEqual({ replayed: 1, rejected: 0, skipped: 0 })
  expect(await broker.topics.offsets('orders', 'latest')).toMatchObject([{ offset: 1 }])
})
