import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDekRegistryClient } from '../../../src/clients/dek-registry-client.ts'
import type { KmsDriver } from '../../../src/serde/serde.ts'
import { avroWithRules, encryptingSerde, encryptRules, firstField, pii, SECRET } from '../../support/encryption.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let running: TestRegistry
beforeAll(async () => {
  running = await startTestRegistry()
})
afterAll(() => running.stop())

const { serializer, deserializer } = encryptingSerde(() => running.url)
const endpoint = () => ({ url: running.url })

describe('data encryption keys', () => {
  const schema = { type: 'record', name: 'R', fields: [{ name: 's', type: 'string', ...pii }] }

  it('get a new version after their expiry, and readers use the version of each value', async () => {
    const topic = randomUUID()
    // The test registry's own clock begins at 1,000 ms.
    let now = 2_000
    const encryption = { ...SECRET, now: () => now }
    const ruleSet = encryptRules({}, { 'encrypt.dek.expiry.days': '2' })
    const writer = serializer({ schema: avroWithRules(ruleSet, schema), encryption })
    const first = await writer.serialize(topic, { s: 'one' })
    now += 1.9 * 86_400_000
    const second = await writer.serialize(topic, { s: 'two' })
    now += 0.2 * 86_400_000
    const third = await Promise.all(['three', 'four'].map((s) => writer.serialize(topic, { s })))
    expect([first, second, ...third].map((bytes) => firstField(bytes).readInt32BE(1))).toEqual([1, 1, 2, 2])
    const read = await Promise.all(
      [first, second, ...third].map((bytes) => deserializer().deserialize(bytes, {}, topic)),
    )
    expect(read).toEqual([{ s: 'one' }, { s: 'two' }, { s: 'three' }, { s: 'four' }])
  })

  it('are not created for each value if the clock of the registry is far behind', async () => {
    const topic = randomUUID()
    // The test registry's own clock begins at 1,000 ms.
    const ruleSet = encryptRules({}, { 'encrypt.dek.expiry.days': '1' })
    const writer = serializer({ schema: avroWithRules(ruleSet, schema), encryption: SECRET })
    const written = []
    for (const s of ['one', 'two', 'three']) written.push(await writer.serialize(topic, { s }))
    expect(written.map((bytes) => firstField(bytes).readInt32BE(1))).toEqual([1, 1, 1])
  })

  it('are created once by concurrent writers', { tags: ['slow'] }, async () => {
    const topic = randomUUID()
    const definition = avroWithRules(encryptRules(), schema)
    const written = await Promise.all(
      Array.from({ length: 8 }, (_, at) => serializer({ schema: definition }).serialize(topic, { s: `value ${at}` })),
    )
    const read = await Promise.all(written.map((bytes) => deserializer().deserialize(bytes, {}, topic)))
    expect(read).toEqual(written.map((_, at) => ({ s: `value ${at}` })))
  })

  it('are wrapped by the KMS of the rule and cached', async () => {
    const topic = randomUUID()
    const calls: string[] = []
    const driver: KmsDriver = {
      type: 'test-kms',
      open({ kmsKeyId }, params) {
        const reverse = (operation: string) => async (bytes: Uint8Array) => {
          calls.push(`${operation} ${kmsKeyId} ${params['region']}`)
          return Buffer.from(bytes).reverse()
        }
        return { wrap: reverse('wrap'), unwrap: reverse('unwrap') }
      },
    }
    const encryption = { kms: [driver], params: { 'rule.executors._default_.param.region': 'north' } }
    const ruleSet = encryptRules({}, { 'encrypt.kms.type': 'test-kms', 'encrypt.kms.key.id': 'one' })
    const writer = serializer({ schema: avroWithRules(ruleSet, schema), encryption })
    const reader = deserializer({ encryption })
    for (const s of ['a', 'b', 'c']) {
      expect(await reader.deserialize(await writer.serialize(topic, { s }), {}, topic)).toEqual({ s })
    }
    expect(calls).toEqual(['wrap one north', 'unwrap one north', 'unwrap one north'])
  })

  it.each([
    ['type', 'aws-kms', "has KMS type 'local-kms', but the rule requires 'aws-kms'"],
    ['key.id', 'other', "has KMS key id 'mykey', but the rule requires 'other'"],
  ])('are not used if the KMS %s of the KEK differs from that of the rule', async (what, wanted, message) => {
    const ruleSet = encryptRules()
    const { params } = ruleSet.domainRules![0] as { params: Record<string, string> }
    await createDekRegistryClient(endpoint()).createKek({
      name: params['encrypt.kek.name']!,
      kmsType: 'local-kms',
      kmsKeyId: 'mykey',
      shared: false,
    })
    params[`encrypt.kms.${what}`] = wanted
    const writing = serializer({ schema: avroWithRules(ruleSet, schema) }).serialize(randomUUID(), { s: 'x' })
    await expect(writing).rejects.toMatchObject({ code: 'rule_failed', message: expect.stringContaining(message) })
  })

  it.each([
    [{ 'encrypt.kek.name': '' }, 'the rule has no encrypt.kek.name'],
    [{ 'encrypt.dek.algorithm': 'DES' }, "encrypt.dek.algorithm 'DES' is none of AES128_GCM"],
    [{ 'encrypt.dek.expiry.days': '-1' }, "encrypt.dek.expiry.days '-1' is not a number of days"],
    [{ 'encrypt.kms.type': '' }, 'the rule has no encrypt.kms.type to create it'],
  ])('are not created with invalid parameters: %j', async (params, message) => {
    const writing = serializer({ schema: avroWithRules(encryptRules({}, params), schema) }).serialize(randomUUID(), {
      s: 'x',
    })
    await expect(writing).rejects.toMatchObject({ code: 'rule_failed', message: expect.stringContaining(message) })
  })

  it('are not created by readers', async () => {
    const topic = randomUUID()
    const ruleSet = encryptRules({ mode: 'READ' })
    const bytes = await serializer({ schema: avroWithRules(ruleSet, schema) }).serialize(topic, { s: 'in clear' })
    await expect(deserializer().deserialize(bytes, {}, topic)).rejects.toMatchObject({
      code: 'rule_failed',
      message: expect.stringMatching(/rule encryptPII failed: KEK 'kek-[^']+' does not exist/),
    })
  })
})
