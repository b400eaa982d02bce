import { expect } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import type { StoredKek } from '../../src/registry/dek/key.ts'
import { KeyState } from '../../src/registry/dek/key-state.ts'
import { openKeysTopic } from '../../src/registry/dek/keys-topic.ts'
import { openLeaderWriter } from '../../src/registry/leadership/leader-writer.ts'
import type { Subject } from '../../src/registry/model/subject.ts'
import { registrySettings } from '../../src/registry/settings.ts'
import { RegistryState } from '../../src/registry/store/registry-state.ts'
import { openSchemasTopic } from '../../src/registry/store/schemas-topic.ts'

const KEK: Omit<StoredKek, 'name'> = {
  kmsType: 'local-kms',
  kmsKeyId: 'id',
  kmsProps: {},
  doc: undefined,
  shared: false,
  deleted: false,
}

/** Contract of the leader's writer on every kind of log: it is exclusive, and up to date when it is acquired. */
export async function testLeaderWriter(broker: Broker, topic: string): Promise<void> {
  const pairs = {
    'brokerstore.topic': topic,
    'dek.registry.topic': `${topic}-keys`,
    'brokerstore.topic.replication.factor': '1',
  }
  const settings = registrySettings(
    Object.entries(pairs).map(([key, value]) => ({ key, value, source: 'test' })),
  ).values
  const open = async () => {
    const [state, keys] = [new RegistryState(), new KeyState()]
    const common = { broker, settings, logger: silentLogger(), topicConfigs: {} }
    const log = await openSchemasTopic(state, common)
    const own = { onUnreadable: () => {}, onFailed: () => {}, saveProgress: async () => {} }
    return { state, keys, log, keyLog: await openKeysTopic(keys, { ...common, ...own }) }
  }
  const [older, newer] = [await open(), await open()]
  const mode = (subject: string) => ({ kind: 'mode', subject: subject as Subject, value: 'READONLY' }) as const
  const kek = (name: string) => ({ kind: 'kek', name, value: { ...KEK, name } }) as const
  const first = await openLeaderWriter(older.log, older.keyLog)
  await first.append([mode('a'), mode('b')])
  await first.appendKeys([kek('a'), kek('b')])
  expect(older.state.mode('b' as Subject)).toBe('READONLY')
  expect(older.keys.kek('b')).toMatchObject(KEK)
  const second = await openLeaderWriter(newer.log, newer.keyLog)
  expect(newer.state.mode('b' as Subject)).toBe('READONLY')
  expect(newer.keys.kek('b')).toMatchObject(KEK)
  await expect(first.appendKeys([kek('c')])).rejects.toMatchObject({ code: 'fenced' })
  await expect(first.append([mode('c')])).rejects.toMatchObject({ code: 'fenced' })
  // A writer that was fenced stays fenced.
  await expect(first.append([mode('c')])).rejects.toMatchObject({ code: 'fenced' })
  await second.append([mode('d')])
  await second.appendKeys([kek('d')])
  await older.log.refresh()
  await older.keyLog.refresh()
  expect(older.keys.keks().map(({ name }) => name)).toEqual(['a', 'b', 'd'])
  expect([older.state.mode('c' as Subject), older.state.mode('d' as Subject)]).toEqual([undefined, 'READONLY'])
  for (const writer of [first, second]) await writer.close()
  for (const { log, keyLog } of [older, newer]) {
    await log.close()
    await keyLog.close()
  }
}
