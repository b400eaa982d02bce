import { expect, it, onTestFinished, vi } from 'vitest'
import type { BrokerBackend } from '../../src/broker/broker-backend.ts'
import { createBrokerClient } from '../../src/broker/broker-client.ts'
import { openEmbeddedBackend } from '../../src/broker/embedded/embedded-backend.ts'
import { ATTRIBUTES_AT } from '../../src/broker/record-batch/batch-header.ts'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import { startRegistry } from '../../src/registry/main.ts'
import { registrySettings } from '../../src/registry/settings.ts'
import { createDamagedBackend, flipBit } from '../support/damaged-backend.ts'
import { hurriedClock } from '../support/hurried-clock.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** Opens an embedded log. Setting `damage.from` damages the batches of `_schemas` from that offset on. */
async function openLog() {
  const backend = await openEmbeddedBackend(':memory:', { logger: silentLogger() })
  onTestFinished(() => backend.close())
  const damage: { from?: number } = {}
  const damaged = createDamagedBackend(backend, (batch, baseOffset) =>
    damage.from !== undefined && baseOffset >= damage.from ? flipBit(Buffer.from(batch), ATTRIBUTES_AT * 8) : batch,
  )
  return { backend: damaged, damage }
}

async function start(backend: BrokerBackend, more: Readonly<Record<string, string>> = {}, clock = systemClock) {
  const logger = silentLogger()
  const broker = createBrokerClient(
    new Proxy(backend, { get: (of, name: keyof BrokerBackend) => (name === 'close' ? async () => {} : of[name]) }),
    { logger, address: () => Promise.reject(new Error('no address')) },
  )
  onTestFinished(() => broker.close())
  const settings = registrySettings(
    Object.entries({ listeners: 'http://127.0.0.1:0', ...more }).map(([key, value]) => ({
      key,
      value,
      source: 'test',
    })),
  )
  const onFailed = vi.fn<(error: Error) => void>()
  const running = await startRegistry(settings, { broker, logger, metrics: createMetrics(), onFailed, clock })
  onTestFinished(() => running.stop())
  const register = async (subject: string, schema: string) => {
    const body = JSON.stringify({ schema })
    const response = await fetch(`${running.url}/subjects/${subject}/versions`, {
      method: 'POST',
      headers: JSON_TYPE,
      body,
    })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  return { ...running, broker, onFailed, register, ready: async () => (await fetch(`${running.url}/readyz`)).status }
}

it('a registry whose topic is damaged while it runs stops writing, is not ready and reports the position', async () => {
  const { backend, damage } = await openLog()
  const registry = await start(backend)
  expect(await registry.register('s', '"int"')).toMatchObject({ status: 200, body: { id: 1 } })
  const [end] = await registry.broker.topics.offsets('_schemas', 'latest')
  damage.from = end!.offset
  const message = new RegExp(
    `the record batch at offset ${damage.from} of _schemas-0 cannot be read: .*Restore topic '_schemas'`,
  )
  expect(await registry.register('s', '"long"')).toMatchObject({ status: 500 })
  await expect.poll(() => registry.onFailed.mock.calls).toMatchObject([[{ message: expect.stringMatching(message) }]])
  expect(await registry.ready()).toBe(503)
  expect(await registry.register('s', '"string"')).toEqual({
    status: 503,
    body: { error_code: 50001, message: expect.stringMatching(message) },
  })
  // Reads continue with the state before the damage.
  expect(await (await fetch(`${registry.url}/subjects/s/versions`)).json()).toEqual([1])
})

it('a registry does not start on a topic that is damaged at any offset', async () => {
  const { backend, damage } = await openLog()
  const registry = await start(backend)
  for (const schema of ['"int"', '"long"', '"string"']) await registry.register(`s-${schema.length}`, schema)
  const [end] = await registry.broker.topics.offsets('_schemas', 'latest')
  await registry.stop()
  for (let offset = 0; offset < end!.offset; offset++) {
    damage.from = offset
    await expect(start(backend)).rejects.toMatchObject({
      code: 'corrupt_batch',
      message: expect.stringContaining(`the record batch at offset ${offset} of _schemas-0 cannot be read`),
    })
  }
})

it('a registry whose topic was deleted does not start with an empty one, unless validation is skipped', async () => {
  const { backend } = await openLog()
  const registry = await start(backend, {}, hurriedClock)
  await registry.register('s', '"int"')
  await registry.broker.topics.delete('_schemas')
  await expect.poll(() => registry.onFailed.mock.calls).toMatchObject([[{ code: 'topic_not_found' }]])
  expect(await registry.ready()).toBe(503)
  await registry.stop()
  const message = "topic '_schemas' does not exist, but it had records"
  for (let again = 0; again < 2; again++) await expect(start(backend)).rejects.toThrow(message)
  const emptied = await start(backend, { 'brokerstore.topic.skip.validation': 'true' })
  expect(await emptied.register('s', '"int"')).toMatchObject({ status: 200, body: { id: 1 } })
})

it.each<[what: string, value: string, id: number]>([
  ['with a rule set that is not supported', '{"subject":"s","version":2,"id":7,"schema":"\\"long\\"","ruleSet":5}', 8],
  ['that is not JSON, without knowing its ID', '{"subject":"s","ver', 2],
])('a registry does not assign the number and the ID of a version %s', { tags: ['slow'] }, async (_, value, id) => {
  const { backend } = await openLog()
  const first = await start(backend, { 'schema.compatibility.level': 'NONE' })
  await first.register('s', '"int"')
  const producer = await first.broker.producer({})
  const key = Buffer.from('{"keytype":"SCHEMA","subject":"s","version":2,"magic":1}')
  await producer.send([{ topic: '_schemas', partition: 0, key, value: Buffer.from(value) }])
  await producer.close()
  await first.stop()
  const registry = await start(backend, { 'schema.compatibility.level': 'NONE' })
  const versions = async () => (await fetch(`${registry.url}/subjects/s/versions`)).json()
  expect(await versions()).toEqual([1])
  expect(await registry.register('s', '"string"')).toMatchObject({ status: 200, body: { version: 3, id } })
  expect(await versions()).toEqual([1, 3])
})
