import { describe, expect, it, onTestFinished } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import { createSerializer } from '../../../src/serde/serde.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const PERSON = {
  type: 'AVRO',
  text: JSON.stringify({
    type: 'record',
    name: 'Person',
    fields: [
      { name: 'name', type: 'string' },
      { name: 'ssn', type: 'string', 'confluent:tags': ['PII'] },
    ],
  }),
} as const

async function produce(broker: Broker, records: readonly Omit<NewRecord, 'topic'>[], topic = 'people'): Promise<void> {
  await broker.topics.create({ name: topic, partitions: 2, configs: { 'cleanup.policy': 'compact' } })
  const producer = await broker.producer()
  await producer.send(records.map((record) => ({ partition: 0, ...record, topic })))
  await producer.close()
}

/** A worker with a registry, and the bytes of a person. */
async function start(settings: Readonly<Record<string, string>> = {}) {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const worker = await startTestWorker({ 'value.converter.schema.registry.url': registry.url, ...settings })
  const serializer = createSerializer({ registry: { url: registry.url }, schema: PERSON })
  const person = async (name: string, ssn: string) => (await serializer.serialize('people', { name, ssn })) as Buffer
  return { ...worker, registry, person }
}

const get = (url: string, path: string) => callAs(undefined, url, `GET /ui/api/topics${path}`)

describe('the topics of a worker', () => {
  it('are listed in pages with their sizes and configurations, without those of programs', async () => {
    const { url, broker } = await start()
    for (const name of ['people', 'orders', 'payments'])
      await produce(broker, [{ key: null, value: Buffer.from('x') }], name)
    const { status, body } = await get(url, '?limit=2')
    expect([status, body]).toEqual([
      200,
      {
        total: 3,
        sizesProblem: null,
        configsProblem: null,
        topics: ['orders', 'payments'].map((name) => ({
          name,
          isInternal: false,
          partitions: 2,
          replicas: 1,
          bytes: expect.any(Number),
          configs: { 'cleanup.policy': 'compact', 'retention.ms': '604800000', 'retention.bytes': '-1' },
        })),
      },
    ])
    expect((await get(url, '?search=PEO')).body).toMatchObject({ total: 1, topics: [{ name: 'people' }] })
    expect((await get(url, '?search=connect&internal=true')).body).toMatchObject({
      topics: ['connect-configs', 'connect-offsets', 'connect-status'].map((name) => ({ name, isInternal: true })),
    })
  })

  it('are described with their partitions, groups and lag', async () => {
    const { url, broker } = await start()
    await produce(
      broker,
      [1, 2, 3].map((n) => ({ key: null, value: Buffer.from(`${n}`) })),
    )
    await broker.groups.setOffsets('readers', [{ topic: 'people', partition: 0, offset: 1 }])
    await broker.groups.setOffsets('others', [])
    expect((await get(url, '/people')).body).toMatchObject({
      name: 'people',
      isInternal: false,
      partitionCount: 2,
      offsetsProblem: null,
      partitions: [
        { partition: 0, earliest: 0, end: 3, bytes: expect.any(Number) },
        { partition: 1, earliest: 0, end: 0 },
      ],
      connectors: [],
    })
    expect((await get(url, '/people/groups')).body).toEqual({
      groups: [
        {
          groupId: 'readers',
          state: 'empty',
          members: 0,
          lag: 2,
          partitions: [{ partition: 0, offset: 1, end: 3, lag: 2 }],
        },
      ],
      groupCount: expect.any(Number),
      askedGroups: expect.any(Number),
      problems: [],
    })
    for (const path of ['/none', '/none/groups', '/none/records'])
      expect(await get(url, path)).toMatchObject({ status: 404, body: { message: "there is no topic 'none'" } })
  })

  it.each([
    ['?limit=0', "'limit' is invalid: expected a whole number from 1 to 500"],
    ['?offset=-1', "'offset' is invalid: expected a whole number from 0"],
    [`?search=${'x'.repeat(1_001)}`, "'search' is invalid: expected at most 1000 characters"],
    [
      '/people/records?from=yesterday',
      "'from' is invalid: expected beginning, end, offset:NUMBER or time:MILLISECONDS",
    ],
    ['/people/records?positions=0', "'positions' is invalid: expected PARTITION:OFFSET, separated by commas"],
    ['/people/records?length=5', "'length' is invalid: expected a whole number from 100 to 1048576"],
    ['/people/records/x/0', 'the partition is invalid: expected a whole number from 0'],
  ])('refuse %s', async (path, message) => {
    const { url } = await startTestWorker()
    expect(await get(url, path)).toMatchObject({ status: 400, body: { message } })
  })
})

describe('the records of a topic', { tags: ['slow'] }, () => {
  it('are decoded by the schema of their id, and fields with a masked tag never leave the worker', async () => {
    const { url, broker, person } = await start()
    const cut = (await person('Eve', '555-66-7777')).subarray(0, 14)
    await produce(broker, [
      { key: Buffer.from('k'), value: await person('Ada', '123-45-6789'), headers: [['trace', Buffer.from('t1')]] },
      { key: null, value: Buffer.from('{"big":12345678901234567890}') },
      { key: null, value: null },
      { key: Buffer.of(255, 0), value: cut },
    ])
    const { body } = await get(url, '/people/records?from=beginning')
    const form = (text: string, more = {}) => ({ text, ...more })
    expect(body).toMatchObject({
      hasMore: false,
      positions: '0:4,1:0',
      stoppedBy: null,
      records: [
        {
          offset: 0,
          key: form('k', { form: 'text' }),
          value: {
            form: 'json',
            text: '{"name":"Ada","ssn":"***"}',
            masked: ['Person.ssn'],
            schema: { id: 1, type: 'AVRO', subject: 'people-value', version: 1 },
          },
          headers: [{ name: 'trace', value: { text: 't1' } }],
        },
        { value: form('{"big":12345678901234567890}', { form: 'json' }) },
        { value: form('', { form: 'null' }) },
        { key: form('ff00', { form: 'hex' }), value: form('', { form: 'withheld', problem: expect.any(String) }) },
      ],
    })
    expect(JSON.stringify(body)).not.toMatch(/123-45|555-6|3132332d|3535352d/)
    // A search does not tell whether a guess of a masked value is right.
    expect((await get(url, '/people/records?search=123-45-6789')).body).toMatchObject({ records: [], hasMore: false })
    expect((await get(url, '/people/records?search=ADA')).body).toMatchObject({ records: [{ offset: 0 }] })
    expect((await get(url, '/people/records?search=trace')).body).toMatchObject({ records: [{ offset: 0 }] })
    expect((await get(url, '/people/records/0/0')).body).toMatchObject({
      value: { text: '{"name":"Ada","ssn":"***"}' },
    })
    expect(await get(url, '/people/records/0/9')).toMatchObject({ status: 404 })
    expect(await get(url, '/people/records/7/0')).toMatchObject({ status: 404 })
  })

  it('with an id of no schema are withheld, unless no field is masked', async () => {
    const unknown = { key: null, value: Buffer.from('\0\0\0\0\x09ssn 123') }
    const masked = await start()
    await produce(masked.broker, [unknown])
    expect((await get(masked.url, '/people/records')).body).toMatchObject({
      records: [{ value: { form: 'withheld', text: '', problem: expect.stringContaining('schema 9') } }],
    })
    const open = await start({ 'records.masked.tags': '' })
    await produce(open.broker, [unknown, { key: null, value: await open.person('Ada', '1') }])
    expect((await get(open.url, '/people/records')).body).toMatchObject({
      records: [{ value: { text: '{"name":"Ada","ssn":"1"}' } }, { value: { form: 'hex' } }],
    })
  })

  it('of programs are not shown to anybody, because they contain secrets', async () => {
    const { url } = await start()
    for (const topic of ['connect-configs', 'connect-offsets', '_schemas', '__consumer_offsets'])
      expect(await get(url, `/${topic}/records`)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('a program of this installation uses it for itself') },
      })
  })

  it('that are large, deep or compressed a thousand times are shown within the limits', async () => {
    const { url, broker } = await start()
    const large = Buffer.from(JSON.stringify({ text: 'x'.repeat(900_000) }))
    const deep = Buffer.from('['.repeat(400_000) + ']'.repeat(400_000))
    await produce(
      broker,
      [large, deep].map((value) => ({ key: null, value })),
    )
    const producer = await broker.producer({ compression: 'gzip', batchBytesMax: 8_000_000 })
    await producer.send(
      Array.from({ length: 5_000 }, () => ({
        topic: 'people',
        partition: 1,
        key: null,
        value: Buffer.alloc(1_000, 'z'),
      })),
    )
    await producer.close()
    const { status, body } = await get(url, '/people/records?limit=500&from=beginning')
    expect(status).toBe(200)
    expect(JSON.stringify(body).length).toBeLessThan(5_000_000)
    expect((await get(url, '/people/records?partition=0')).body).toMatchObject({
      records: [
        { value: { isTruncated: true, bytes: deep.length } },
        { value: { isTruncated: true, bytes: large.length } },
      ],
    })
    const { value } = (await get(url, '/people/records/0/0')).body as { value: { text: string } }
    expect(value.text).toBe(large.toString())
  })

  it('are read by users with the right on the topic only', async () => {
    const users = { ada: 'readonly', bob: 'admin', eve: 'developer', none: 'none' } as const
    const permissions = { users: { ada: [{ topics: ['peo*'], operations: ['read'] }] } }
    const { url, broker } = await start(await basicAuthSettings(users, permissions))
    await produce(broker, [{ key: null, value: Buffer.from('x') }])
    await produce(broker, [{ key: null, value: Buffer.from('x') }], 'orders')
    const statusOf = async (user: string, path: string) => (await callAs(user, url, `GET /ui/api/topics${path}`)).status
    const paths = ['', '/people', '/people/groups', '/people/records', '/people/records/0/0', '/orders/records']
    const statuses = async (user: string) => Promise.all(paths.map((path) => statusOf(user, path)))
    expect(await statuses('ada')).toEqual([200, 200, 200, 200, 200, 403])
    expect(await statuses('eve')).toEqual([200, 200, 200, 403, 403, 403])
    expect(await statuses('bob')).toEqual([200, 200, 200, 200, 200, 200])
    expect(await statuses('none')).toEqual([403, 403, 403, 403, 403, 403])
    expect(await statusOf('ada', '/%6frders/records')).toBe(403)
    expect((await callAs('eve', url, 'GET /ui/api/topics/people/records')).body).toMatchObject({
      message: "User 'eve' lacks the permission 'read' on the topic 'people'",
    })
    expect((await callAs('eve', url, 'GET /ui/api/rights?kind=topics&name=people')).body).toEqual({
      operations: ['describe'],
    })
  })
})
