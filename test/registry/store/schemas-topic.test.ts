import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { guidOf } from '../../../src/registry/model/schema.ts'
import { toSubject } from '../../../src/registry/model/subject.ts'
import { registrySettings } from '../../../src/registry/settings.ts'
import { RegistryState } from '../../../src/registry/store/registry-state.ts'
import { openSchemasTopic } from '../../../src/registry/store/schemas-topic.ts'
import { testLeaderWriter } from '../../support/leader-writer-contract.ts'
import { openTestBroker } from '../../support/topic.ts'

it('opening a leader writer fences the previous one', async () => {
  const broker = await openTestBroker()
  await testLeaderWriter(broker, '_schemas')
  expect(await broker.topics.list()).toContain('_schemas')
})

it('contents are indexed by GUID in many turns of the event loop, and with each record after that', async () => {
  const broker = await openTestBroker()
  const settings = registrySettings([]).values
  const open = async () => {
    const state = new RegistryState()
    return { state, log: await openSchemasTopic(state, { broker, logger: silentLogger(), settings, topicConfigs: {} }) }
  }
  const first = await open()
  const writer = await first.log.openWriter()
  await writer.append(Array.from({ length: 1_000 }, (_, at) => newSchema(at + 1)))

  const { state, log } = await open()
  let turns = 0
  let isIndexed = false
  const indexed = log.indexContents().then(() => {
    isIndexed = true
  })
  for (; !isIndexed; turns++) await nextTurn()
  expect(turns).toBeGreaterThanOrEqual(4)
  await indexed
  expect(state.indexContents(0)).toBe(false)
  expect(state.idOf('.', guidOf(newSchema(1_000).value.content))).toBe(1_000)

  await writer.append([newSchema(1_001)])
  await log.refresh()
  expect(state.idMax('.')).toBe(1_001)
  expect(state.indexContents(0)).toBe(false)

  await writer.close()
  for (const topic of [first.log, log]) await topic.close()
})

function newSchema(id: number) {
  const content = { type: 'AVRO', text: `"${id}"`, references: [], metadata: undefined, ruleSet: undefined } as const
  const subject = toSubject(`s-${id}`)
  const value = { subject, version: 1, id, content: { ...content, guid: undefined }, deleted: false, extra: {} }
  return { kind: 'schema', subject, version: 1, value } as const
}
