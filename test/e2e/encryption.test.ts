import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient, type NewSchema, type SchemaRuleSet } from '../../src/clients/registry-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createDeserializer, createSerializer } from '../../src/serde/serde.ts'
import { run } from '../env/process.ts'
import { describeOn, real } from '../env/real.ts'
import { avroWithRules, encryptRules, firstField, pii } from '../support/encryption.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'

const kafka = await real('kafka')
const pythonClients = await real('pythonClients')
const javascriptClients = await real('javascriptClients')

const CLIENTS = ['Python', 'JavaScript', 'Weir'] as const
type Client = (typeof CLIENTS)[number]
const SECRET = 'a secret of both applications'

let registry: RegistryProcess
let broker: Broker
const endpoint = () => ({ url: registry.url })

/** The task of a client on a topic: writing values or reading data. */
type Job = Pick<Case, 'type' | 'message'> & { readonly topic: string } & (
    | { readonly write: readonly unknown[] }
    | { readonly read: readonly string[] }
  )
/** The written data in base64, or the values that were read. */
type Outcome = readonly unknown[] | { readonly error: string }
type Settings = { readonly secret?: string | null; readonly days?: number }

async function work(client: Client, jobs: readonly Job[], settings: Settings = {}): Promise<readonly Outcome[]> {
  const { secret = SECRET, days = 0 } = settings
  if (client === 'Weir') return Promise.all(jobs.map((job) => workOurs(job, { secret, days })))
  const [file, script, packages] =
    client === 'Python'
      ? ['python3', 'encryption.py', pythonClients.address.packages]
      : [process.execPath, 'encryption.mjs', javascriptClients.address.modules]
  const args = [join(import.meta.dirname, 'clients', script), packages, registry.url]
  const request = JSON.stringify({ secret, days, jobs })
  const { code, stdout, stderr } = await run({ file, args: [...args, request], directory: import.meta.dirname })
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Outcome[]
}

async function workOurs(job: Job, { secret, days }: Required<Settings>): Promise<Outcome> {
  const now = () => Date.now() + days * 86_400_000
  const encryption = { params: secret === null ? {} : { secret }, now }
  try {
    if ('write' in job) {
      const serializer = createSerializer({ registry: endpoint(), policy: 'use-latest', encryption })
      const written = await Promise.all(job.write.map((value) => serializer.serialize(job.topic, ours(job, value))))
      return written.map((bytes) => bytes!.toString('base64'))
    }
    const deserializer = createDeserializer({ registry: endpoint(), encryption })
    const read = (data: string) => deserializer.deserialize(Buffer.from(data, 'base64'), {}, job.topic)
    return (await Promise.all(job.read.map(read))).map((value) => theirs(job, value))
  } catch (error) {
    return { error: String(error) }
  }
}

/** In the JSON format of Protobuf, bytes are base64 strings and 64-bit integers are strings. */
function ours({ type }: Job, value: unknown): unknown {
  if (type !== 'PROTOBUF') return value
  const { id, photo, ...rest } = value as { readonly id: string; readonly photo: string }
  return { ...rest, id: BigInt(id), photo: Buffer.from(photo, 'base64') }
}

function theirs({ type }: Job, value: unknown): unknown {
  if (type !== 'PROTOBUF') return value
  const { id, photo, email, note } = value as Record<string, unknown>
  return { id: String(id), email, photo: Buffer.from(photo as Uint8Array).toString('base64'), note }
}

const AVRO = {
  type: 'record',
  name: 'Customer',
  namespace: 'shop',
  fields: [
    { name: 'email', type: 'string', ...pii },
    { name: 'phone', type: ['null', 'string'], default: null, ...pii },
    { name: 'names', type: { type: 'array', items: 'string' }, ...pii },
    { name: 'home', type: { type: 'record', name: 'Address', fields: [{ name: 'street', type: 'string', ...pii }] } },
    { name: 'note', type: 'string' },
  ],
}
const VALUE = {
  email: 'ada@example.com',
  phone: '+49 711 1234',
  names: ['Augusta Ada', 'Lovelace'],
  home: { street: 'Long Lane 1' },
  note: 'likes tea',
}
const VALUES = [VALUE, { ...VALUE, email: 'grüße@example.com', phone: null, names: [] }]
const SECRETS = ['ada@example.com', '+49 711 1234', 'Augusta Ada', 'Lovelace', 'Long Lane 1', 'e@example.com']

const JSON_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Customer',
  type: 'object',
  properties: {
    email: { type: 'string', ...pii },
    phone: { oneOf: [{ type: 'null' }, { type: 'string' }], ...pii },
    names: { type: 'array', items: { type: 'string' }, ...pii },
    home: { type: 'object', properties: { street: { type: 'string', ...pii } } },
    note: { type: 'string' },
  },
}
/** Has no nested messages and lists, because the JavaScript client 1.10.1 fails for them. */
const PROTOBUF = `syntax = "proto3";
  package shop;
  import "confluent/meta.proto";
  message Customer {
    int64 id = 1;
    string email = 2 [(confluent.field_meta).tags = "PII"];
    bytes photo = 3 [(confluent.field_meta).tags = "PII"];
    string note = 4;
  }`
const field = (name: string, number: number, type: string) => ({
  name,
  jsonName: name,
  number,
  type,
  label: 'LABEL_OPTIONAL',
})
const MESSAGE = {
  name: 'shop.Customer',
  file: {
    name: 'customer.proto',
    package: 'shop',
    syntax: 'proto3',
    messageType: [
      {
        name: 'Customer',
        field: [
          field('id', 1, 'TYPE_INT64'),
          field('email', 2, 'TYPE_STRING'),
          field('photo', 3, 'TYPE_BYTES'),
          field('note', 4, 'TYPE_STRING'),
        ],
      },
    ],
  },
}
const PHOTO = 'a photo of Ada'
const MESSAGES = [
  { id: '7', email: 'ada@example.com', photo: Buffer.from(PHOTO).toString('base64'), note: 'likes tea' },
]

type Case = {
  readonly title: string
  readonly type: 'AVRO' | 'JSON' | 'PROTOBUF'
  readonly message?: object | undefined
  readonly schema: Pick<NewSchema, 'schema' | 'metadata'>
  readonly rules: SchemaRuleSet
  readonly values: readonly unknown[]
  readonly secrets: readonly string[]
  /** Whether `likes tea` is encrypted too. */
  readonly isAllEncrypted?: boolean
  /** Clients that do not support this case. */
  readonly without?: readonly Client[]
}
/** A case with the data that a client wrote. */
type Stored = Case & { readonly topic: string; readonly data: readonly string[] }

const withAlgorithm = (algorithm: string) => encryptRules({}, { 'encrypt.dek.algorithm': algorithm })
const payloadRules = (): SchemaRuleSet => ({
  encodingRules: encryptRules({ type: 'ENCRYPT_PAYLOAD', tags: [] }).domainRules ?? [],
})
const avro = { type: 'AVRO' as const, schema: { schema: JSON.stringify(AVRO) }, values: VALUES, secrets: SECRETS }
const untagged = JSON.stringify(AVRO).replaceAll(',"confluent:tags":["PII"]', '')
const json = {
  type: 'JSON' as const,
  schema: { schema: JSON.stringify(JSON_SCHEMA) },
  values: VALUES,
  secrets: SECRETS,
}
const protobuf = {
  type: 'PROTOBUF' as const,
  schema: { schema: PROTOBUF },
  message: MESSAGE,
  values: MESSAGES,
  secrets: ['ada@example.com', PHOTO],
}
const CASES: readonly Case[] = [
  { title: 'Avro with AES256_GCM', ...avro, rules: encryptRules() },
  { title: 'Avro with AES256_SIV', ...avro, rules: withAlgorithm('AES256_SIV') },
  {
    title: 'Avro with tags in the metadata',
    ...avro,
    schema: { schema: untagged, metadata: { tags: { 'shop.Customer.*': ['PII'], '**.street': ['PII'] } } },
    rules: encryptRules(),
    isAllEncrypted: true,
    // It cannot hash a schema whose metadata has tags: "unhashable type: 'list'".
    without: ['Python'],
  },
  { title: 'Avro, the whole payload', ...avro, rules: payloadRules(), isAllEncrypted: true },
  { title: 'JSON Schema with AES128_GCM', ...json, rules: withAlgorithm('AES128_GCM') },
  { title: 'JSON Schema, the whole payload', ...json, rules: payloadRules(), isAllEncrypted: true },
  { title: 'Protobuf with AES256_GCM', ...protobuf, rules: encryptRules() },
  { title: 'Protobuf with AES256_SIV', ...protobuf, rules: withAlgorithm('AES256_SIV') },
]

/** Creates a topic and registers the schema that all clients use. */
async function newTopic({ type, schema, rules }: Pick<Case, 'type' | 'schema' | 'rules'>): Promise<string> {
  const name = `encryption-${randomUUID()}`
  await broker.topics.create({ name, partitions: 1, replicationFactor: 1 })
  const sent = { ...schema, schemaType: type, ruleSet: rules }
  await createRegistryClient(endpoint()).register(`${name}-value`, sent)
  return name
}

async function produce(topic: string, data: readonly string[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(data.map((text) => ({ topic, partition: 0, key: null, value: Buffer.from(text, 'base64') })))
  await producer.close()
}

/** Returns the values of all records of a topic in base64. */
async function consume(topic: string): Promise<readonly string[]> {
  const reader = await broker.reader()
  reader.seek([{ topic, partition: 0, offset: 0 }])
  const all: string[] = []
  for (;;) {
    const polled = await reader.poll(10_000)
    all.push(...polled.flatMap(({ records }) => records.map(({ value }) => (value as Buffer).toString('base64'))))
    if (polled.some(({ nextOffset, endOffset }) => nextOffset >= endOffset)) break
  }
  await reader.close()
  return all
}

function dataOf(outcome: Outcome | undefined): readonly string[] {
  expect(outcome).toBeInstanceOf(Array)
  return outcome as readonly string[]
}

describeOn(
  [kafka, pythonClients, javascriptClients],
  "Confluent's clients and weir/serde with field encryption",
  () => {
    beforeAll(async () => {
      const name = `encryption-${randomUUID()}`
      const settings = {
        'brokerstore.topic': `_schemas-${name}`,
        'dek.registry.topic': `_deks-${name}`,
        'schema.registry.group.id': name,
      }
      registry = await startRegistryProcess(['--bootstrap', kafka.address.bootstrap], settings)
      broker = await openBroker(
        { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } },
        { logger: silentLogger() },
      )
    })
    afterAll(async () => {
      await broker?.close()
      await registry?.stop()
    })

    describe.each(CLIENTS)('values written by the %s client', (writer) => {
      const written = CASES.filter(({ without = [] }) => !without.includes(writer))
      const stored: Stored[] = []
      const readBy = (reader: Client) => stored.filter(({ without = [] }) => !without.includes(reader))
      const reading = (reader: Client) =>
        readBy(reader).map(({ type, message, topic, data }): Job => ({ type, message, topic, read: data }))

      beforeAll(async () => {
        const topics = await Promise.all(written.map(newTopic))
        const jobs = written.map(({ type, message, values }, at): Job => {
          return { type, message, topic: topics[at]!, write: values }
        })
        for (const [at, outcome] of (await work(writer, jobs)).entries()) {
          const topic = topics[at]!
          await produce(topic, dataOf(outcome))
          stored.push({ ...written[at]!, topic, data: await consume(topic) })
        }
      })

      it.each(written)('contain no plaintext in the topic: $title', ({ title, values, secrets, isAllEncrypted }) => {
        const { data } = stored.find((one) => one.title === title)!
        expect(data).toHaveLength(values.length)
        for (const bytes of data.map((text) => Buffer.from(text, 'base64'))) {
          expect(secrets.filter((secret) => bytes.includes(secret))).toEqual([])
          expect(bytes.includes('likes tea')).toBe(isAllEncrypted !== true)
        }
      })

      it.each(CLIENTS)('can be read by the %s client', async (reader) => {
        expect(await work(reader, reading(reader))).toEqual(readBy(reader).map(({ values }) => values))
      })

      it.each(CLIENTS)('cannot be read by the %s client with another secret or without one', async (reader) => {
        for (const secret of ['another secret', null]) {
          const outcomes = await work(reader, reading(reader), { secret })
          expect(outcomes).toEqual(readBy(reader).map(() => ({ error: expect.any(String) })))
        }
      })
    })

    it('return the ciphertext without the key if onFailure is ERROR,NONE', async () => {
      const [one] = CASES
      const topic = await newTopic({ ...one!, rules: encryptRules({ onFailure: 'ERROR,NONE' }) })
      const [written] = await work('JavaScript', [{ type: 'AVRO', topic, write: [VALUE] }])
      const read = await Promise.all(
        CLIENTS.map((client) => work(client, [{ type: 'AVRO', topic, read: dataOf(written) }], { secret: 'another' })),
      )
      const [first] = read
      expect(read).toEqual(CLIENTS.map(() => first))
      expect(JSON.stringify(first)).not.toContain(VALUE.email)
      expect(first).toMatchObject([[{ note: 'likes tea' }]])
    })

    it('rotate expired keys with consecutive versions, and read all versions', async () => {
      const rules = encryptRules({}, { 'encrypt.dek.expiry.days': '1' })
      const schema = { ...AVRO, fields: AVRO.fields.slice(0, 1) }
      const topic = await newTopic({ type: 'AVRO', schema: { schema: avroWithRules(rules, schema).text }, rules })
      const versions: number[] = []
      for (const [at, client] of (['Python', 'JavaScript', 'Weir', 'Python'] as const).entries()) {
        const write = [{ email: `written by ${client}` }]
        const [written] = await work(client, [{ type: 'AVRO', topic, write }], { days: 2 * at })
        await produce(topic, dataOf(written))
        versions.push(...dataOf(written).map((data) => firstField(Buffer.from(data, 'base64')).readInt32BE(1)))
      }
      expect(versions).toEqual([1, 2, 3, 4])
      const read = await consume(topic)
      for (const client of CLIENTS) {
        const [values] = await work(client, [{ type: 'AVRO', topic, read }])
        expect(values).toEqual(
          ['Python', 'JavaScript', 'Weir', 'Python'].map((name) => ({ email: `written by ${name}` })),
        )
      }
    })
  },
)
