import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { BrokerError } from '../../src/broker/broker-error.ts'
import { createLogger, type Logger, silentLogger } from '../../src/common/logging/logger.ts'
import { createMetrics } from '../../src/common/metrics-registry.ts'
import type { KmsDriver } from '../../src/encryption/kms.ts'
import { localKmsDriver } from '../../src/encryption/local-kms.ts'
import { startRegistry } from '../../src/registry/main.ts'
import { registrySettings } from '../../src/registry/settings.ts'
import { callAs } from '../support/basic-auth.ts'
import { openTestBroker, readRecords } from '../support/topic.ts'

const TOPIC = '_dek_registry_keys'
const KEKS = '/dek-registry/v1/keks'
const SECRET = 'a-secret-of-the-local-kms'
const KEK = { name: 'k', kmsType: 'local-kms', kmsKeyId: 'id', kmsProps: { secret: SECRET }, shared: true }
const WAIT = { timeout: 120_000, interval: 20 }

type Options = { readonly logger?: Logger; readonly settings?: object; readonly kmsDrivers?: readonly KmsDriver[] }

let broker: Broker
beforeEach(async () => {
  broker = await openTestBroker()
})

async function start({ logger = silentLogger(), settings = {}, kmsDrivers }: Options = {}) {
  const pairs = Object.entries({ listeners: 'http://127.0.0.1:0', 'host.name': '127.0.0.1', ...settings })
  const values = registrySettings(pairs.map(([key, value]) => ({ key, value: String(value), source: 'test' })))
  const onFailed = vi.fn<(error: Error) => void>()
  const running = await startRegistry(values, {
    broker,
    logger,
    metrics: createMetrics(),
    kmsDrivers: kmsDrivers ?? [localKmsDriver({})],
    onFailed,
  })
  onTestFinished(() => running.stop())
  return {
    onFailed,
    stop: () => running.stop(),
    call: (line: string, body?: unknown) => callAs(undefined, running.url, line, body),
    metrics: async () => String((await callAs(undefined, running.url, 'GET /metrics')).body),
  }
}

async function writeRaw(key: string, value: string | null): Promise<void> {
  const producer = await broker.producer()
  await producer.send([
    { topic: TOPIC, partition: 0, key: Buffer.from(key), value: value === null ? null : Buffer.from(value) },
  ])
  await producer.close()
}

describe('a DEK registry on an embedded broker', () => {
  it('has the same keys after a restart', async () => {
    const first = await start()
    await first.call(`POST ${KEKS}`, KEK)
    const { body: dek } = await first.call(`POST ${KEKS}/k/deks/s`, {})
    await first.call(`POST ${KEKS}`, { ...KEK, name: 'deleted' })
    await first.call(`DELETE ${KEKS}/deleted`)
    await first.stop()
    const second = await start()
    expect(await second.call(`GET ${KEKS}/k/deks/s`)).toEqual({ status: 200, body: dek })
    expect((await second.call(`GET ${KEKS}?deleted=true`)).body).toEqual(['deleted', 'k'])
    expect(await second.metrics()).toMatch(/^kafka_schema_registry_dek_registry_num_keks\{tenant="default"\} 2$/m)
    expect(await second.metrics()).toMatch(/^kafka_schema_registry_dek_registry_num_deks\{tenant="default"\} 1$/m)
  })

  it('has the same keys on every instance, and after a change of the leader', async () => {
    const leader = await start()
    const follower = await start()
    expect((await follower.call(`POST ${KEKS}`, KEK)).status).toBe(200)
    const { body: dek } = await follower.call(`POST ${KEKS}/k/deks/s`, {})
    expect(await follower.call(`GET ${KEKS}/k/deks/s`)).toEqual({ status: 200, body: dek })
    expect(await follower.call(`DELETE ${KEKS}/k`)).toMatchObject({ status: 422, body: { error_code: 42272 } })
    await leader.stop()
    await expect.poll(async () => (await follower.call(`POST ${KEKS}/k/deks/t`, {})).status, WAIT).toBe(200)
    expect((await follower.call(`GET ${KEKS}/k/deks`)).body).toEqual(['s', 't'])
  })

  it('creates one DEK for concurrent requests to several instances', async () => {
    const instances = [await start(), await start()]
    await instances[0]!.call(`POST ${KEKS}`, KEK)
    const requests = Array.from({ length: 24 }, (_, at) => instances[at % 2]!.call(`POST ${KEKS}/k/deks/s`, {}))
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(23)
    const [one, other] = await Promise.all(instances.map(({ call }) => call(`GET ${KEKS}/k/deks/s`)))
    expect(one).toEqual(other)
    expect(one).toMatchObject({ status: 200, body: { keyMaterial: expect.any(String) } })
  })

  it('does not delay other writes while a KMS is slow, and considers their changes', async () => {
    const wrapCalled = Promise.withResolvers<void>()
    const wrapGate = Promise.withResolvers<void>()
    const local = localKmsDriver({})
    const slow: KmsDriver = {
      type: 'local-kms',
      open(key, params) {
        const kms = local.open(key, params)
        const wrap = async (dek: Uint8Array) => {
          wrapCalled.resolve()
          await wrapGate.promise
          return kms.wrap(dek)
        }
        return { ...kms, wrap }
      },
    }
    const { call } = await start({ kmsDrivers: [slow] })
    await call(`POST ${KEKS}`, KEK)
    const created = call(`POST ${KEKS}/k/deks/s`, {})
    await wrapCalled.promise
    expect((await call('POST /subjects/s/versions', { schema: '"int"' })).status).toBe(200)
    expect((await call(`DELETE ${KEKS}/k`)).status).toBe(204)
    wrapGate.resolve()
    expect(await created).toMatchObject({ status: 404, body: { error_code: 40470 } })
    expect((await call(`GET ${KEKS}/k/deks?deleted=true`)).body).toEqual([])
  })

  it('reads the records of Confluent’s registry, skips unreadable ones, and writes the same format', async () => {
    await broker.topics.create({ name: TOPIC, partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    const key = '{"tenant":"default","name":"k","type":"KEK"}'
    const value = '{"name":"k","kmsType":"x","kmsKeyId":"y","kmsProps":{},"shared":false,"deleted":false,"type":"KEK"}'
    await writeRaw(key, value)
    await writeRaw('not a record', 'at all')
    const { call, metrics } = await start()
    expect((await call(`GET ${KEKS}/k`)).body).toMatchObject({ name: 'k', kmsType: 'x', kmsKeyId: 'y' })
    expect(await metrics()).toMatch(/^weir_registry_unreadable_records_total 1$/m)
    await call(`PUT ${KEKS}/k`, { doc: 'why' })
    const last = (await readRecords(broker, TOPIC)).at(-1)
    expect([String(last?.key), String(last?.value)]).toEqual([key, value.replace('"shared"', '"doc":"why","shared"')])
  })

  it('does not replace a key whose record it cannot read, and serves the others', async () => {
    await broker.topics.create({ name: TOPIC, partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    const kek = (name: string) => `{"tenant":"default","name":"${name}","type":"KEK"}`
    const dek = (version: number) =>
      `{"tenant":"default","kekName":"k","subject":"s","algorithm":"AES256_GCM","version":${version},"type":"DEK"}`
    await writeRaw(kek('k'), '{"name":"k","kmsType":"x","kmsKeyId":"y","type":"KEK"}')
    await writeRaw(kek('unreadable'), '{"name":"unreadable","type":"KEK"}')
    await writeRaw(dek(1), '{"encryptedKeyMaterial":"AQID","type":"DEK"}')
    await writeRaw(dek(2), '{"encryptedKeyMaterial":{"new":"AQID"},"type":"DEK"}')
    const { call } = await start()
    const unreadable = { status: 500, body: { error_code: 50001, message: expect.stringContaining('cannot be read') } }
    const material = { encryptedKeyMaterial: 'BBBB' }
    for (const [request, body] of [
      [`GET ${KEKS}/unreadable`],
      [`POST ${KEKS}`, { ...KEK, name: 'unreadable' }],
      [`PUT ${KEKS}/unreadable`, { doc: 'why' }],
      [`DELETE ${KEKS}/unreadable`],
      [`POST ${KEKS}/unreadable/deks/s`, material],
      [`GET ${KEKS}/k/deks/s/versions/2?deleted=true`],
      [`GET ${KEKS}/k/deks/s/versions/latest`],
      [`GET ${KEKS}/k/deks/s/versions`],
      [`GET ${KEKS}/k/deks`],
      [`POST ${KEKS}/k/deks/s`, { ...material, version: 2 }],
      [`POST ${KEKS}/k/deks/s?rewrap=true`, { ...material, version: 2 }],
      [`DELETE ${KEKS}/k/deks/s`],
      [`DELETE ${KEKS}/k`],
    ] as const)
      expect([request, await call(request, body)]).toMatchObject([request, unreadable])
    expect(await call(`GET ${KEKS}`)).toMatchObject({ status: 200, body: ['k'] })
    expect(await call(`GET ${KEKS}/k/deks/s/versions/1`)).toMatchObject({ status: 200, body: { version: 1 } })
    expect(await call(`POST ${KEKS}/k/deks/s`, { ...material, version: 3 })).toMatchObject({ status: 200 })
    await writeRaw(dek(2), '{"encryptedKeyMaterial":"AQID","type":"DEK"}')
    await expect.poll(() => call(`GET ${KEKS}/k/deks/s/versions`), WAIT).toMatchObject({ status: 200, body: [1, 2, 3] })
  })

  it('fails when its topic is deleted, and does not start with an empty one', async () => {
    const first = await start()
    await first.call(`POST ${KEKS}`, KEK)
    await broker.topics.delete(TOPIC)
    await expect.poll(() => first.onFailed.mock.calls, WAIT).toMatchObject([[{ code: 'topic_not_found' }]])
    expect(await first.call(`GET ${KEKS}/k`)).toMatchObject({ status: 503, body: { error_code: 50001 } })
    expect(await first.call(`DELETE ${KEKS}/k`)).toMatchObject({ status: 503, body: { error_code: 50001 } })
    await first.stop()
    await expect(start()).rejects.toMatchObject({ code: 'log_truncated', message: expect.stringContaining(TOPIC) })
  })

  it('is unavailable if the broker denies access to its topic, while schemas are served', async () => {
    const create = broker.topics.create.bind(broker.topics)
    vi.spyOn(broker.topics, 'create').mockImplementation(async (topic) => {
      if (topic.name === TOPIC) throw new BrokerError('not_authorized', `CREATE of topic '${TOPIC}' is not permitted`)
      return create(topic)
    })
    const { call } = await start()
    expect((await call('POST /subjects/s/versions', { schema: '"int"' })).status).toBe(200)
    const unavailable = {
      error_code: 50001,
      message: expect.stringContaining(`CREATE of topic '${TOPIC}' is not permitted`),
    }
    expect(await call(`GET ${KEKS}`)).toEqual({ status: 503, body: unavailable })
    expect(await call(`POST ${KEKS}`, KEK)).toEqual({ status: 503, body: unavailable })
  })

  it('is not served and creates no topic if it is disabled', async () => {
    const { call } = await start({ settings: { 'weir.dek.registry.enable': 'false' } })
    expect((await call(`GET ${KEKS}`)).status).toBe(404)
    expect(await broker.topics.list()).not.toContain(TOPIC)
  })

  it('does not log KMS secrets or keys', async () => {
    const lines: string[] = []
    const logger = createLogger({ level: 'trace', write: (line) => void lines.push(line) })
    await broker.topics.create({ name: TOPIC, partitions: 1, configs: { 'cleanup.policy': 'compact' } })
    await writeRaw('{"tenant":"default","name":"x","type":"KEK"}', `{"kmsProps":{"secret":"${SECRET}"}`)
    await writeRaw('{"tenant":"default","name":"y","type":"KEK"}', `{"type":"KEK","kmsProps":{"secret":"${SECRET}"}}`)
    await writeRaw(`{"tenant":"default","name":"${SECRET}"`, null)
    const { call } = await start({ logger, settings: { debug: 'true' } })
    await call(`POST ${KEKS}?testSharing=true`, KEK)
    const { body } = await call(`POST ${KEKS}/k/deks/s`, {})
    const dek = body as { readonly keyMaterial: string; readonly encryptedKeyMaterial: string }
    await call(`GET ${KEKS}/k`)
    await call(`GET ${KEKS}/k/deks/s`)
    await call(`POST ${KEKS}/k/deks/s?rewrap=true`, {})
    await call(`POST ${KEKS}/k/deks/s`, { encryptedKeyMaterial: dek.encryptedKeyMaterial })
    await call(`POST ${KEKS}/k/deks/other`, { encryptedKeyMaterial: dek.keyMaterial })
    await call(`POST ${KEKS}/k/deks/other`, { version: dek.keyMaterial, algorithm: SECRET, deleted: {} })
    await call(`PUT ${KEKS}/k`, { kmsProps: { secret: `other-${SECRET}` } })
    expect((await call(`GET ${KEKS}/k/deks/s`)).status).toBe(500)
    expect((await call(`POST ${KEKS}`, `{"kmsProps":{"secret":"${SECRET}"}`)).status).toBe(400)
    expect(lines.join('\n')).toContain('its value is not a JSON object')
    for (const secret of [SECRET, dek.keyMaterial, dek.encryptedKeyMaterial])
      expect(lines.join('\n')).not.toContain(secret)
  })
})
