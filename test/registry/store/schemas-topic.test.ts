import { expect, it } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { toSubject } from '../../../src/registry/model/subject.ts'
import { registrySettings } from '../../../src/registry/settings.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'
import { openSchemasTopic } from '../../../src/registry/store/schemas-topic.ts'
import { testLeaderWriter } from '../../support/leader-writer-contract.ts'
import { openTestBroker, readLatestValues } from '../../support/topic.ts'

it('opening a leader writer fences the previous one', async () => {
  const broker = await openTestBroker()
  await testLeaderWriter(broker, '_schemas')
  expect(await broker.topics.list()).toContain('_schemas')
})

const SUBJECT = toSubject('s')

/** A record of a version; null deletes it permanently. */
function version(number: number, text: string | null, id = number) {
  if (text === null) return { kind: 'schema', subject: SUBJECT, version: number, value: null } as const
  const bare = { type: 'AVRO', text, references: [], metadata: undefined, ruleSet: undefined } as const
  const content = { ...bare, guid: guidOf(bare) }
  const value = { subject: SUBJECT, version: number, id, content, deleted: false, extra: {} }
  return { kind: 'schema', subject: SUBJECT, version: number, value } as const
}

async function openLeader(broker: Broker) {
  const state = new RegistryState()
  const { values: settings } = registrySettings([])
  const log = await openSchemasTopic(state, { broker, settings, logger: silentLogger(), topicConfigs: {} })
  const writer = await log.openWriter()
  const close = async () => {
    await writer.close()
    await log.close()
  }
  return { state, writer, close }
}

/** A broker with what compaction leaves of the topic when the retention of tombstones has passed. */
async function compacted(broker: Broker): Promise<Broker> {
  const other = await openTestBroker()
  await other.topics.create({ name: '_schemas', partitions: 1, configs: { 'cleanup.policy': 'compact' } })
  const producer = await other.producer()
  for (const [key, value] of await readLatestValues(broker, '_schemas'))
    if (value !== null) await producer.send([{ topic: '_schemas', key: Buffer.from(key), value }])
  await producer.close()
  return other
}

it.each([
  ['is deleted permanently', [version(2, null)]],
  ['is replaced by an import with another ID', [version(2, '"string"', 1)]],
])('an ID is not assigned again when its last version %s, also after compaction and restarts', async (_, records) => {
  const broker = await openTestBroker()
  const first = await openLeader(broker)
  await first.writer.append([version(1, '"string"'), version(2, '"int"')])
  await first.writer.append(records)
  await first.close()
  const second = await openLeader(await compacted(broker))
  expect([second.state.idMax('.'), [...second.state.holders('.', 2)]]).toEqual([2, []])
  await second.close()
})

it('an ID stays retired when other leaders have claimed the topic', async () => {
  const broker = await openTestBroker()
  const first = await openLeader(broker)
  await first.writer.append([version(1, '"int"')])
  await first.writer.append([version(1, null)])
  await first.close()
  const second = await openLeader(await compacted(broker))
  await second.close()
  const other = await compacted(broker)
  const third = await openLeader(other)
  await third.writer.append([version(1, '"long"', 2)])
  await third.close()
  const last = await openLeader(await compacted(other))
  expect(last.state.idMax('.')).toBe(2)
  await last.close()
})
