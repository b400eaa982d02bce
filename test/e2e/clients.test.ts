import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { SchemaRegistry, SchemaType as TheirType } from '@kafkajs/confluent-schema-registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker, StoredRecord } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { createDeserializer, createSerializer, type SchemaDefinition } from '../../src/serde/serde.ts'
import { run } from '../env/process.ts'
import { describeOn, real } from '../env/real.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'

const kafka = await real('kafka')
const pythonClients = await real('pythonClients')

type ConfluentSchema = Parameters<SchemaRegistry['register']>[0]

let registry: RegistryProcess
let broker: Broker

async function newTopic(): Promise<string> {
  const name = `clients-${randomUUID()}`
  await broker.topics.create({ name, partitions: 1, replicationFactor: 1 })
  return name
}

async function produce(topic: string, values: readonly (Uint8Array | null)[]): Promise<void> {
  const producer = await broker.producer()
  await producer.send(values.map((value) => ({ topic, partition: 0, key: null, value })))
  await producer.close()
}

/** Everything the topic holds. */
async function recordsOf(topic: string): Promise<readonly StoredRecord[]> {
  const reader = await broker.reader()
  reader.seek([{ topic, partition: 0, offset: 0 }])
  const all: StoredRecord[] = []
  for (;;) {
    const polled = await reader.poll(10_000)
    all.push(...polled.flatMap(({ records }) => records))
    if (polled.some(({ nextOffset, endOffset }) => nextOffset >= endOffset)) break
  }
  await reader.close()
  return all
}

async function consume(topic: string): Promise<readonly (Buffer | null)[]> {
  return (await recordsOf(topic)).map(({ value }) => value)
}

/** Written by us and stored in Kafka. */
async function produceOurs(topic: string, schema: SchemaDefinition, values: readonly unknown[], message?: string) {
  const serializer = createSerializer({ registry: endpoint(), schema, ...(message === undefined ? {} : { message }) })
  const framed: (Buffer | null)[] = []
  for (const value of values) framed.push(await serializer.serialize(topic, value))
  await produce(topic, framed)
}

/** Read from Kafka and understood by us. */
async function consumeOurs(topic: string): Promise<readonly unknown[]> {
  const deserializer = createDeserializer({ registry: endpoint(), validate: true })
  const records = await recordsOf(topic)
  return Promise.all(records.map(({ value, headers }) => deserializer.deserialize(value, Object.fromEntries(headers))))
}

const endpoint = () => ({ url: registry.url })

const AVRO: SchemaDefinition = {
  type: 'AVRO',
  text: JSON.stringify({
    type: 'record',
    name: 'Order',
    namespace: 'shop',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'note', type: ['null', 'string'], default: null },
      {
        name: 'lines',
        type: { type: 'array', items: { type: 'record', name: 'Line', fields: [{ name: 'sku', type: 'string' }] } },
      },
    ],
  }),
}
const JSON_SCHEMA: SchemaDefinition = {
  type: 'JSON',
  text: '{"$schema":"http://json-schema.org/draft-07/schema#","title":"Order","type":"object","properties":{"id":{"type":"integer"},"note":{"type":["string","null"]}},"required":["id"]}',
}
const LINE = 'syntax = "proto3"; package shop; message Line { string sku = 1; }'
const PROTOBUF: SchemaDefinition = {
  type: 'PROTOBUF',
  text: `syntax = "proto3"; package shop; import "shop/line.proto";
    message Order { int64 id = 1; string note = 2; repeated Line lines = 3; message Refund { string reason = 1; } }
    message Parcel { Line line = 1; }`,
  references: [{ name: 'shop/line.proto', text: LINE }],
}
const ORDERS = [
  { id: 1, note: 'first', lines: [{ sku: 'a' }, { sku: 'ü' }] },
  { id: 2, note: null, lines: [] },
]
const JSON_ORDERS = ORDERS.map(({ id, note }) => ({ id, note }))

describeOn([kafka], "clients on Kafka and Weir's registry", () => {
  beforeAll(async () => {
    const name = `clients-${randomUUID()}`
    const settings = { 'brokerstore.topic': `_schemas-${name}`, 'schema.registry.group.id': name }
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

  describeOn([pythonClients], "Confluent's client for Python", () => {
    /** As protoc compiles what stands in PROTOBUF. */
    const field = (name: string, number: number, type: string, more: object = {}) => ({
      name,
      number,
      type,
      label: 'LABEL_OPTIONAL',
      ...more,
    })
    const line = { typeName: '.shop.Line' }
    const files = [
      {
        name: 'shop/line.proto',
        package: 'shop',
        syntax: 'proto3',
        messageType: [{ name: 'Line', field: [field('sku', 1, 'TYPE_STRING')] }],
      },
      {
        name: 'shop/order.proto',
        package: 'shop',
        syntax: 'proto3',
        dependency: ['shop/line.proto'],
        messageType: [
          {
            name: 'Order',
            field: [
              field('id', 1, 'TYPE_INT64'),
              field('note', 2, 'TYPE_STRING'),
              field('lines', 3, 'TYPE_MESSAGE', { ...line, label: 'LABEL_REPEATED' }),
            ],
            nestedType: [{ name: 'Refund', field: [field('reason', 1, 'TYPE_STRING')] }],
          },
          { name: 'Parcel', field: [field('line', 1, 'TYPE_MESSAGE', line)] },
        ],
      },
    ]
    const compiled = (message: string) => JSON.stringify({ message, files })

    async function python(
      topic: string,
      type: string,
      schema: string,
      values?: readonly unknown[],
      ...more: 'HEADER'[]
    ): Promise<unknown[]> {
      const script = join(import.meta.dirname, 'clients/client.py')
      const args = [script, pythonClients.address.packages, kafka.address.bootstrap, registry.url, topic, type, schema]
      const written = values === undefined ? [] : [JSON.stringify(values)]
      const { code, stdout, stderr } = await run({
        file: 'python3',
        args: [...args, ...written, ...more],
        directory: import.meta.dirname,
      })
      expect({ code, stderr }).toMatchObject({ code: 0 })
      return stdout
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((text) => JSON.parse(text) as unknown)
    }

    it.each([
      ['Avro', AVRO, ORDERS],
      ['JSON Schema', JSON_SCHEMA, JSON_ORDERS],
    ])('writes %s that we read, and reads what we write', async (_, schema, values) => {
      const [theirs, ours] = [await newTopic(), await newTopic()]
      await python(theirs, schema.type, schema.text, values)
      expect(await consumeOurs(theirs)).toEqual(values)
      await produceOurs(ours, schema, values)
      expect(await python(ours, schema.type, schema.text)).toEqual(values)
      expect(await python(theirs, schema.type, schema.text)).toEqual(values)
      // Both registered the same.
      const client = createRegistryClient(endpoint())
      expect((await client.latest(`${theirs}-value`)).id).toBe((await client.latest(`${ours}-value`)).id)
    })

    it.each([
      // Only the first: it refuses what it wrote itself where that is less than six bytes.
      ['Avro', AVRO.type, AVRO.text, ORDERS.slice(0, 1)],
      ['JSON Schema', JSON_SCHEMA.type, JSON_SCHEMA.text, JSON_ORDERS],
      ['Protobuf', 'PROTOBUF', compiled('shop.Order.Refund'), [{ reason: 'late' }]],
    ])('writes %s with the guid of its schema in a header, and we read it', async (_, type, schema, values) => {
      const topic = await newTopic()
      await python(topic, type, schema, values, 'HEADER')
      expect((await recordsOf(topic)).map(({ headers }) => headers[0]?.[0])).toContain('__value_schema_id')
      expect(await consumeOurs(topic)).toMatchObject(values)
      expect(await python(topic, type, schema)).toEqual(values)
    })

    it.each([
      ['shop.Order', { id: 3n, note: 'x', lines: [{ sku: 'a' }] }, { id: '3', note: 'x', lines: [{ sku: 'a' }] }],
      ['shop.Order.Refund', { reason: 'late' }, { reason: 'late' }],
      ['shop.Parcel', { line: { sku: 'b' } }, { line: { sku: 'b' } }],
    ])('writes Protobuf with an import that we read, and reads what we write: %s', async (message, value, written) => {
      const [theirs, ours] = [await newTopic(), await newTopic()]
      await python(theirs, 'PROTOBUF', compiled(message), [written])
      expect(await consumeOurs(theirs)).toMatchObject([{ $typeName: message, ...value }])
      await produceOurs(ours, PROTOBUF, [value], message)
      expect(await python(ours, 'PROTOBUF', compiled(message))).toEqual([written])
      expect(await python(theirs, 'PROTOBUF', compiled(message))).toEqual([written])
      const { references } = await createRegistryClient(endpoint()).latest(`${theirs}-value`)
      expect(references).toEqual([{ name: 'shop/line.proto', subject: 'shop/line.proto', version: 1 }])
    })
  })

  describe('@kafkajs/confluent-schema-registry', () => {
    const theirs = () => new SchemaRegistry({ host: registry.url })
    const decoded = async (topic: string): Promise<unknown[]> =>
      Promise.all((await consume(topic)).map((bytes) => theirs().decode(bytes as Buffer)))

    it.each([
      ['Avro', AVRO, TheirType.AVRO as const, ORDERS],
      ['JSON Schema', JSON_SCHEMA, TheirType.JSON as const, JSON_ORDERS],
    ])('writes %s that we read, and reads what we write', async (_, schema, type, values) => {
      const [written, read] = [await newTopic(), await newTopic()]
      const client = theirs()
      const { id } = await client.register({ type, schema: schema.text } as ConfluentSchema, {
        subject: `${written}-value`,
      })
      await produce(written, await Promise.all(values.map((value) => client.encode(id, value))))
      expect(await consumeOurs(written)).toEqual(values)
      await produceOurs(read, schema, values)
      expect(await decoded(read)).toEqual(values)
      expect(await client.getLatestSchemaId(`${read}-value`)).toBe(id)
    })

    it('reads the first message of a Protobuf file that Weir writes (its own records lack message indexes)', async () => {
      const topic = await newTopic()
      const schema: SchemaDefinition = {
        type: 'PROTOBUF',
        text: 'syntax = "proto3"; package t; message Flag { string name = 1; }',
      }
      await produceOurs(topic, schema, [{ name: 'x' }])
      expect(await decoded(topic)).toEqual([{ name: 'x' }])
    })

    it('reports errors of the registry', async () => {
      const subject = `${await newTopic()}-value`
      const client = theirs()
      const schema = (type: string) =>
        ({
          type: TheirType.AVRO,
          schema: `{"type":"record","name":"R","namespace":"t","fields":[{"name":"f","type":"${type}"}]}`,
        }) as const
      await client.register(schema('string'), { subject })
      await expect(client.register(schema('int'), { subject })).rejects.toThrow(/incompatible with an earlier schema/)
      await expect(client.decode(Buffer.from('000000ffff00', 'hex'))).rejects.toThrow(/Schema 65535 not found/)
    })
  })
})
