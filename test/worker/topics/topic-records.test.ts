import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { createRegistryClient } from '../../../src/clients/registry-client.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { TopicRecords, type TopicRecordsOptions } from '../../../src/worker/topics/topic-records.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const SCAN = { scan: { topic: 't', from: 'end', limit: 10 }, textMax: 1_000 } as const

async function open(options: Partial<TopicRecordsOptions> = {}, values: readonly Buffer[] = []) {
  const address = { kind: 'embedded', directory: join(temporaryDirectory(), 'data') } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await broker.topics.create({ name: 't', partitions: 1 })
  const producer = await broker.producer()
  await producer.send(values.map((value) => ({ topic: 't', key: null, value })))
  const records = new TopicRecords(broker, {
    registry: undefined,
    maskedTags: ['PII'],
    isProgramTopic: () => false,
    ...options,
  })
  onTestFinished(() => records.close())
  return records
}

describe('requests for records', { tags: ['slow'] }, () => {
  it('that a broker does not answer in time are reported, and later ones are served', async () => {
    const records = await open({ timeoutMs: 0 })
    await expect(records.scan(SCAN)).rejects.toMatchObject({
      code: 'records_unreadable',
      message: "the records of topic 't' cannot be read: not read within 0 ms",
    })
  })

  it('are served two at a time while four wait, and further ones are refused', async () => {
    const records = await open()
    const running = Array.from({ length: 6 }, () => records.scan(SCAN))
    await expect(records.read('t', { partition: 0, offset: 0 })).rejects.toMatchObject({ code: 'records_busy' })
    for (const found of await Promise.all(running)) expect(JSON.parse(found)).toMatchObject({ records: [] })
  })

  it('find records that claim to have a billion items, none of which needs a byte, and show them as what they are', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const schema = JSON.stringify({ type: 'array', items: { type: 'record', name: 'Empty', fields: [] } })
    const { id } = await createRegistryClient({ url: registry.url }).register('t-value', { schema })
    const billion = Buffer.from([0, 0, 0, 0, id, 0x80, 0xa8, 0xd6, 0xb9, 0x07, 0])
    const records = await open({ registry: { 'schema.registry.url': registry.url } }, [billion])
    expect(JSON.parse(await records.scan(SCAN))).toMatchObject({
      records: [{ value: { form: 'hex', text: billion.toString('hex'), problem: expect.any(String) } }],
      stoppedBy: null,
    })
  })

  it('of a topic of a program are refused before anything is read', async () => {
    const records = await open({ isProgramTopic: (topic) => topic === 't' })
    await expect(records.scan(SCAN)).rejects.toMatchObject({ code: 'records_refused' })
    await expect(records.read('t', { partition: 0, offset: 0 })).rejects.toMatchObject({ code: 'records_refused' })
  })
})
