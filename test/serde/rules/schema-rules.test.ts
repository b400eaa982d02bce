import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRegistryClient, type SchemaRuleSet } from '../../../src/clients/registry-client.ts'
import { createSerializer, type Endpoint, type SchemaDefinition } from '../../../src/serde/serde.ts'
import { avroWithRules, encryptingSerde, encryptRules, firstField, SECRET } from '../../support/encryption.ts'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'

let running: TestRegistry
beforeAll(async () => {
  running = await startTestRegistry()
})
afterAll(() => running.stop())

const { serializer, deserializer } = encryptingSerde(() => running.url)
const endpoint = () => ({ url: running.url })

describe('rules', () => {
  const schema = {
    type: 'record',
    name: 'R',
    namespace: 'ns',
    fields: [
      { name: 's', type: 'string' },
      { name: 'n', type: 'int', default: 0 },
    ],
  }
  const TEXT_SCHEMA = { ...schema, fields: schema.fields.slice(0, 1) }
  const TAGGED = { tags: { '**.s': ['PII'] } }
  const written = async (
    ruleSet: SchemaRuleSet,
    metadata: NonNullable<SchemaDefinition['metadata']> = {},
    ofSchema: object = schema,
    value: object = { s: 'clear', n: 1 },
  ) => {
    const topic = randomUUID()
    const definition = { ...avroWithRules(ruleSet, ofSchema), metadata }
    const bytes = await serializer({ schema: definition }).serialize(topic, value)
    return { bytes: bytes!, read: () => deserializer().deserialize(bytes, {}, topic) }
  }

  it.each(['ns.R.s', 'ns.*.s', '**.s', '**'])(
    'apply to fields whose name matches the pattern %s in metadata.tags',
    async (pattern) => {
      const { bytes, read } = await written(encryptRules(), { tags: { [pattern]: ['PII'] } }, TEXT_SCHEMA, {
        s: 'clear',
      })
      expect(bytes.includes('clear')).toBe(false)
      expect(await read()).toEqual({ s: 'clear' })
    },
  )

  it('use missing parameters from metadata.properties', async () => {
    const ruleSet = encryptRules({ params: {} })
    const properties = {
      'encrypt.kek.name': `kek-${randomUUID()}`,
      'encrypt.kms.type': 'local-kms',
      'encrypt.kms.key.id': 'x',
    }
    const { bytes, read } = await written(ruleSet, { tags: { '**.s': ['PII'] }, properties })
    expect(bytes.includes('clear')).toBe(false)
    expect(await read()).toEqual({ s: 'clear', n: 1 })
  })

  it.each([[{ disabled: true }], [{ mode: 'READ' }], [{ tags: ['OTHER'] }]])(
    'do not encrypt with %j',
    async (change) => {
      const { bytes } = await written(encryptRules(change), TAGGED)
      expect(bytes.includes('clear')).toBe(true)
    },
  )

  it('are not executed if enableAt is not the client', async () => {
    const { bytes } = await written({ ...encryptRules(), enableAt: 'GATEWAY' }, TAGGED)
    expect(bytes.includes('clear')).toBe(true)
  })

  it('with the same tags encrypt only once', async () => {
    const [first] = encryptRules().domainRules!
    const [second] = encryptRules({ name: 'again' }).domainRules!
    const { bytes, read } = await written({ domainRules: [first!, second!] }, TAGGED)
    expect(firstField(bytes)).toHaveLength(12 + 'clear'.length + 16)
    expect(await read()).toEqual({ s: 'clear', n: 1 })
  })

  it('are executed in reverse order when reading', async () => {
    const [first] = encryptRules().domainRules!
    const [second] = encryptRules({ name: 'again', tags: ['ALSO'] }).domainRules!
    const { bytes, read } = await written({ domainRules: [first!, second!] }, { tags: { '**.s': ['PII', 'ALSO'] } })
    expect(bytes.includes('clear')).toBe(false)
    expect(await read()).toEqual({ s: 'clear', n: 1 })
  })

  it('fail for fields that are neither strings nor bytes', async () => {
    await expect(written(encryptRules(), { tags: { '**.n': ['PII'] } })).rejects.toMatchObject({
      code: 'rule_failed',
      message: 'rule encryptPII failed: field ns.R.n: type INT cannot be encrypted, only STRING and BYTES',
    })
  })

  it('without an executor or with an unknown action fail', async () => {
    await expect(written(encryptRules({ type: 'CEL_FIELD' }))).rejects.toMatchObject({
      code: 'rule_failed',
      message: 'rule encryptPII failed: rules of type CEL_FIELD in domainRules are not supported',
    })
    await expect(written(encryptRules({ type: 'CEL_FIELD', onFailure: 'DLQ' }))).rejects.toMatchObject({
      message: expect.stringContaining("the rule action 'DLQ' is not supported"),
    })
    await expect(written(encryptRules({ kind: 'CONDITION' }))).rejects.toMatchObject({ code: 'rule_failed' })
    await expect(written(encryptRules({ onSuccess: 'ERROR' }), {})).rejects.toMatchObject({ code: 'rule_failed' })
  })

  it('return the ciphertext to a reader without the key if onFailure is NONE for reading', async () => {
    const topic = randomUUID()
    const ruleSet = encryptRules({ onFailure: 'ERROR,NONE' })
    const definition = { ...avroWithRules(ruleSet, schema), metadata: TAGGED }
    const bytes = await serializer({ schema: definition }).serialize(topic, { s: 'clear', n: 1 })
    const reader = deserializer({ encryption: { params: { secret: 'wrong' } } })
    const { s } = (await reader.deserialize(bytes, {}, topic)) as { s: string }
    expect(Buffer.from(s, 'base64')).toHaveLength(12 + 'clear'.length + 16)
    await expect(
      serializer({ schema: definition, encryption: { params: { secret: 'wrong' } } }).serialize(topic, {
        s: 'x',
        n: 1,
      }),
    ).rejects.toMatchObject({ code: 'rule_failed' })
  })

  it('that the registry adds to a schema are executed with every policy', async () => {
    const topic = randomUUID()
    const client = createRegistryClient(endpoint())
    await client.putConfig({ defaultRuleSet: encryptRules(), defaultMetadata: TAGGED }, `${topic}-value`)
    const definition: SchemaDefinition = { type: 'AVRO', text: JSON.stringify(schema) }
    for (const policy of ['auto-register', 'use-latest'] as const) {
      const bytes = await serializer({ schema: definition, policy }).serialize(topic, { s: 'clear', n: 1 })
      expect(bytes?.includes('clear')).toBe(false)
      expect(await deserializer().deserialize(bytes, {}, topic)).toEqual({ s: 'clear', n: 1 })
    }
    const { id } = await client.latest(`${topic}-value`)
    const bytes = await serializer({ policy: 'use-latest' }).serialize(topic, { s: 'clear', n: 1 })
    expect(bytes?.readInt32BE(1)).toBe(id)
  })

  it('decrypt before the reader schema is applied', async () => {
    const topic = randomUUID()
    const definition = { ...avroWithRules(encryptRules(), schema), metadata: TAGGED }
    const bytes = await serializer({ schema: definition }).serialize(topic, { s: 'clear', n: 1 })
    const renamed = { ...schema, fields: [{ name: 't', type: 'bytes', aliases: ['s'] }] }
    const reader = deserializer({ readerSchema: { type: 'AVRO', text: JSON.stringify(renamed) } })
    expect(await reader.deserialize(bytes, {}, topic)).toEqual({ t: Buffer.from('clear') })
  })

  it('require the topic for reading, unless the subject name is that of the record', async () => {
    const topic = randomUUID()
    const definition = { ...avroWithRules(encryptRules(), schema), metadata: TAGGED }
    const bytes = await serializer({ schema: definition }).serialize(topic, { s: 'clear', n: 1 })
    await expect(deserializer().deserialize(bytes)).rejects.toMatchObject({ code: 'no_topic' })
    const named = { schema: definition, subjectName: 'RecordName' } as const
    const framed = await serializer(named).serialize(topic, { s: 'clear', n: 1 })
    expect(await deserializer({ subjectName: 'RecordName' }).deserialize(framed)).toEqual({ s: 'clear', n: 1 })
  })

  it('fail with the retriable code unavailable if the DEK registry is unavailable', async () => {
    const topic = randomUUID()
    const definition = { ...avroWithRules(encryptRules(), schema), metadata: TAGGED }
    let isDown = true
    const registry: Endpoint = {
      ...endpoint(),
      through: (call, send) =>
        isDown && call.path.startsWith('/dek-registry') ? Promise.resolve({ status: 503, text: '{}' }) : send(call),
    }
    const writer = createSerializer({ registry, schema: definition, encryption: SECRET })
    await expect(writer.serialize(topic, { s: 'clear', n: 1 })).rejects.toMatchObject({ code: 'unavailable' })
    isDown = false
    expect(await writer.serialize(topic, { s: 'clear', n: 1 })).toBeInstanceOf(Buffer)
  })
})
