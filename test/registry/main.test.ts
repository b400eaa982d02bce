import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import type { RunningProgram } from '../../src/common/lifecycle.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { startRegistry } from '../../src/registry/main.ts'
import { registrySettings } from '../../src/registry/settings.ts'
import { until } from '../support/until.ts'

const logger = silentLogger()
let directory: string
let broker: Broker
let running: RunningProgram[]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-registry-'))
  broker = await openBroker({ kind: 'embedded', directory }, { logger })
  running = []
})
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()))
  await broker.close()
  await rm(directory, { recursive: true })
})

async function start(): Promise<{ url: string; stop: () => Promise<void> }> {
  const settings = registrySettings([{ key: 'listeners', value: 'http://127.0.0.1:0', source: 'test' }])
  const started = await startRegistry(settings, { broker, logger, metrics: createMetrics() })
  running.push(started)
  return started
}

async function write(key: string, value: string | null): Promise<void> {
  const producer = await broker.producer()
  await producer.send([
    { topic: '_schemas', partition: 0, key: Buffer.from(key), value: value === null ? null : Buffer.from(value) },
  ])
  await producer.close()
}

describe('a registry on an embedded broker', () => {
  it('has the same schemas and configs after a restart', async () => {
    const first = await start()
    const client = createRegistryClient({ url: first.url })
    await client.register('s', { schema: '"int"' })
    await client.register('s', { schema: '"long"' })
    await client.putConfig({ compatibility: 'FULL' }, 's')
    await first.stop()
    const restarted = createRegistryClient({ url: (await start()).url })
    expect(await restarted.versions('s')).toEqual([1, 2])
    expect(await restarted.latest('s')).toMatchObject({ id: 2, schema: '"long"' })
    expect(await restarted.config('s')).toEqual({ compatibility: 'FULL' })
    expect(await restarted.register('t', { schema: '"string"' })).toMatchObject({ id: 3 })
  })

  it('has the type of each version after a restart, also if versions of several types have the same text and ID', async () => {
    await broker.topics.create({ name: '_schemas', partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    // Old versions of Confluent's registry gave schemas with the same text one ID, whatever their types.
    const schema = '{"type":"string","logicalType":"uuid"}'
    for (const [subject, type] of [['a'], ['b', 'JSON'], [':.c:a', 'JSON']]) {
      const value = { subject, version: 1, id: 1, schemaType: type, schema, deleted: false }
      await write(JSON.stringify({ keytype: 'SCHEMA', subject, version: 1, magic: 1 }), JSON.stringify(value))
    }
    const client = createRegistryClient({ url: (await start()).url })
    const types = () =>
      Promise.all(['a', 'b', ':.c:a'].map(async (name) => (await client.version(name, 1))?.schemaType))
    expect(await types()).toEqual(['AVRO', 'JSON', 'JSON'])
    // The registration builds the index of contents.
    expect(await client.register('d', { schema, schemaType: 'JSON' })).toMatchObject({ id: 1, schemaType: 'JSON' })
    expect(await types()).toEqual(['AVRO', 'JSON', 'JSON'])
  })

  it('reads an existing topic, and skips and counts records that it cannot decode', async () => {
    await broker.topics.create({ name: '_schemas', partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    await write(
      '{"keytype":"SCHEMA","subject":"s","version":1,"magic":1}',
      '{"subject":"s","version":1,"id":9,"schema":" {\\"type\\": \\"int\\"} ","deleted":false}',
    )
    await write('not a record', 'at all')
    await write('{"keytype":"CONFIG","subject":null,"magic":0}', '{"compatibilityLevel":"NONE"}')
    const { url } = await start()
    const client = createRegistryClient({ url })
    // The stored text is returned, although it is not canonical.
    expect(await client.byId(9)).toMatchObject({ schema: ' {"type": "int"} ' })
    expect(await client.config()).toEqual({ compatibility: 'NONE' })
    expect(await client.register('s', { schema: '"int"' })).toMatchObject({ id: 9, version: 1 })
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^weir_registry_unreadable_records_total 1$/m)
  })

  it('follows records that other programs write', async () => {
    const client = createRegistryClient({ url: (await start()).url })
    await write('{"keytype":"MODE","magic":0}', '{"mode":"READONLY"}')
    const soon = { everyMs: 5, timeoutMs: 25_000 }
    await until('the mode to arrive', soon, async () => (await client.mode()) === 'READONLY')
    await expect(client.register('s', { schema: '"int"' })).rejects.toMatchObject({ errorCode: 42205 })
  })

  it('does not start on a topic with several partitions', async () => {
    await broker.topics.create({ name: '_schemas', partitions: 2, configs: { 'cleanup.policy': 'compact' } })
    await expect(start()).rejects.toThrow("topic '_schemas' has 2 partitions: it must have 1")
  })
})
