import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Broker, NewRecord } from '../../../src/broker/broker.ts'
import { createSerializer } from '../../../src/serde/serde.ts'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const INSTALLED = join(import.meta.dirname, '../../e2e/console/preview-plugins.ts')
const SINK = { 'connector.class': 'FileStreamSink', file: '/dev/null', topics: 'orders' }
const JSON_VALUES = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
}
const SMT = 'org.apache.kafka.connect.transforms'

async function produce(broker: Broker, topic: string, records: readonly Omit<NewRecord, 'topic'>[]): Promise<void> {
  await broker.topics.create({ name: topic, partitions: 1, configs: { 'retention.ms': '-1' } })
  const producer = await broker.producer()
  await producer.send(records.map((record, at) => ({ timestampMs: at, partition: 0, ...record, topic })))
  await producer.close()
}

const values = (...texts: readonly string[]) => texts.map((text) => ({ key: null, value: Buffer.from(text) }))

function preview(url: string, config: object, name = 'orders-sink', user?: string) {
  return callAs(user, url, `POST /ui/api/connectors/${encodeURIComponent(name)}/preview`, { config })
}

describe('the preview of a sink', () => {
  it('shows what its converters and transformations make of the last ten records, and writes nothing', async () => {
    const { url, broker } = await startTestWorker()
    const lines = Array.from({ length: 12 }, (_, n) => `{"id":${n},"name":"n${n}"}`)
    await produce(broker, 'orders', [
      ...values(...lines),
      { key: Buffer.from('k'), value: Buffer.from('{"id":'), headers: [['trace', Buffer.from('7')]] },
      ...values('{"id":13,"name":"drop"}', '"no object"'),
      { key: null, value: null },
    ])
    const topicsBefore = await broker.topics.list()
    const { status, body } = await preview(url, {
      ...SINK,
      ...JSON_VALUES,
      transforms: 'drop,route,mask',
      'transforms.drop.type': `${SMT}.Filter`,
      'transforms.drop.predicate': 'tombstone',
      'predicates.tombstone.type': `${SMT}.predicates.RecordIsTombstone`,
      predicates: 'tombstone',
      'transforms.route.type': `${SMT}.RegexRouter`,
      'transforms.route.regex': '.*',
      'transforms.route.replacement': 'routed',
      'transforms.mask.type': `${SMT}.MaskField$Value`,
      'transforms.mask.fields': 'name',
    })
    expect([status, body]).toMatchObject([
      200,
      {
        kind: 'sink',
        topics: ['orders'],
        notes: [],
        records: [
          // Dropped.
          { topic: 'orders', stored: { offset: 15 }, read: { value: { text: 'null' } }, result: null, failure: null },
          {
            stored: { offset: 14 },
            read: { value: { text: '"no object"' } },
            result: null,
            failure: {
              stage: 'TRANSFORMATION',
              className: `${SMT}.MaskField$Value`,
              exceptionClass: 'org.apache.kafka.connect.errors.DataException',
              message: expect.stringContaining('Map'),
            },
          },
          { stored: { offset: 13 }, result: { topic: 'routed', value: { text: '{"id":13,"name":""}' } } },
          {
            stored: { offset: 12, value: { text: '{"id":' }, headers: [{ name: 'trace' }] },
            read: null,
            result: null,
            failure: {
              stage: 'VALUE_CONVERTER',
              className: 'org.apache.kafka.connect.json.JsonConverter',
              message: expect.any(String),
            },
          },
          ...[11, 10, 9, 8, 7, 6].map((n) => ({
            stored: { offset: n, value: { text: lines[n] } },
            problem: null,
            read: { topic: 'orders', value: { text: lines[n] } },
            result: { topic: 'routed', value: { text: `{"id":${n},"name":""}`, schema: null } },
            failure: null,
          })),
        ],
      },
    ])
    expect(await broker.topics.list()).toEqual(topicsBefore)
    expect(await broker.groups.list()).not.toContainEqual(expect.objectContaining({ groupId: 'connect-orders-sink' }))
  })

  it('shows no value of a field with a masked tag, and passes none to a transformation', async () => {
    const registry = await startTestRegistry()
    onTestFinished(() => registry.stop())
    const { url, broker } = await startTestWorker({ 'value.converter.schema.registry.url': registry.url })
    const field = (name: string, type: string) => ({ name, type, 'confluent:tags': ['PII'] })
    const serialize = (name: string, fields: readonly object[], value: object) =>
      createSerializer({
        registry: { url: registry.url },
        schema: { type: 'AVRO', text: JSON.stringify({ type: 'record', name, fields }) },
      }).serialize(name, value) as Promise<Buffer>
    await produce(broker, 'orders', [
      { key: null, value: await serialize('Person', [field('ssn', 'string')], { ssn: '123-45-6789' }) },
      { key: null, value: await serialize('Birth', [field('year', 'int')], { year: 1815 }) },
    ])
    const { body } = await preview(url, {
      ...SINK,
      ...JSON_VALUES,
      'value.converter': 'io.confluent.connect.avro.AvroConverter',
      'value.converter.schema.registry.url': registry.url,
      transforms: 'hoist',
      'transforms.hoist.type': `${SMT}.HoistField$Value`,
      'transforms.hoist.field': 'who',
    })
    expect(body).toMatchObject({
      records: [
        { problem: "the type of a masked field has no '***': Birth.year", read: null, result: null, failure: null },
        {
          problem: null,
          stored: { value: { text: '{"ssn":"***"}', masked: ['Person.ssn'] } },
          read: { value: { text: '{"ssn":"***"}', schema: 'struct Person' } },
          result: { value: { text: '{"who":{"ssn":"***"}}' } },
        },
      ],
    })
    expect(JSON.stringify(body)).not.toMatch(/123-45|1815/)
  })

  it('names what it leaves out: topics that do not exist or have no records, and more than ten', async () => {
    const { url, broker } = await startTestWorker()
    for (let at = 0; at < 12; at++) await produce(broker, `t-${at}`, values(`"${at}"`))
    await broker.topics.create({ name: 'empty', partitions: 1 })
    expect((await preview(url, { ...SINK, ...JSON_VALUES, topics: 'none,empty' })).body).toEqual({
      kind: 'sink',
      topics: ['none', 'empty'],
      notes: ["There is no topic 'none' yet.", "The topic 'empty' has no records."],
      records: [],
    })
    const { topics: _, ...sink } = SINK
    expect((await preview(url, { ...sink, ...JSON_VALUES, 'topics.regex': 't-.*' })).body).toMatchObject({
      topics: expect.objectContaining({ length: 10 }),
      notes: ['Only the first 10 of 12 topics are read.'],
      records: expect.objectContaining({ length: 10 }),
    })
    expect((await preview(url, { ...sink, ...JSON_VALUES, 'topics.regex': 'x.*' })).body).toMatchObject({
      notes: ['No topic that you may read matches topics.regex.'],
    })
  })

  it.each([
    [{ ...SINK, 'connector.class': 'None' }, "there is no connector 'None' on this worker"],
    [{ ...SINK, topics: '' }, "'topics' or 'topics.regex' is not set"],
    [{ ...SINK, transforms: 'x', 'transforms.x.type': 'None' }, "there is no transformation 'None' here"],
    [{ ...SINK, transforms: 'x', 'transforms.x.type': `${SMT}.HoistField$Value` }, 'field'],
    [{ ...SINK, topics: { a: 1 } }, "'topics' of 'config' is invalid"],
  ])('refuses %o', async (config, message) => {
    const { url, broker } = await startTestWorker()
    await produce(broker, 'orders', values('1'))
    expect(await preview(url, config)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(message) },
    })
  })

  it('masks values of placeholders that a transformation puts into records', async () => {
    const { url, broker } = await startTestWorker({
      'config.providers': 'env',
      'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
    })
    process.env['PREVIEW_SECRET'] = 'hunter2-hunter2'
    onTestFinished(() => {
      delete process.env['PREVIEW_SECRET']
    })
    await produce(broker, 'orders', values('{"id":1}'))
    const { body } = await preview(url, {
      ...SINK,
      ...JSON_VALUES,
      transforms: 'insert',
      'transforms.insert.type': `${SMT}.InsertField$Value`,
      'transforms.insert.static.field': 'password',
      'transforms.insert.static.value': '${env:PREVIEW_SECRET}',
    })
    expect(body).toMatchObject({ records: [{ result: { value: { text: expect.stringContaining('"password":') } } }] })
    expect(JSON.stringify(body)).not.toContain('hunter2')
  })
})

describe('the preview of a source', () => {
  const SOURCE = { 'connector.class': 'FileStreamSource', file: '/dev/null', topic: 'lines', ...JSON_VALUES }
  const STRINGS = { ...SOURCE, 'value.converter': 'org.apache.kafka.connect.storage.StringConverter' }
  const HOIST = { 'transforms.hoist.type': `${SMT}.HoistField$Value`, 'transforms.hoist.field': 'line' }

  it('says why there are no records before it runs', async () => {
    const { url } = await startTestWorker()
    expect((await preview(url, SOURCE, 'lines')).body).toEqual({
      kind: 'source',
      topics: [],
      notes: [expect.stringContaining('a source is not asked for records before it runs')],
      records: [],
    })
  })

  it('applies the added transformations to what it has written, and says so when it cannot', async () => {
    const { url } = await startTestWorker({ 'connector.paths.allowed': '/' })
    await callAs(undefined, url, 'PUT /connectors/lines/config', { ...STRINGS, file: import.meta.filename })
    await expect
      .poll(async () => (await callAs(undefined, url, 'GET /connectors/lines/topics')).body)
      .toMatchObject({
        lines: { topics: ['lines'] },
      })
    await callAs(undefined, url, 'PUT /connectors/lines/stop')
    // Stored records keep the format of the converter that wrote them, strings here, whichever converter the new configuration has.
    const added = await preview(url, { ...SOURCE, ...HOIST, transforms: 'hoist' }, 'lines')
    expect(added.body).toMatchObject({
      kind: 'source',
      topics: ['lines'],
      notes: [
        expect.stringContaining('A source is not asked for records'),
        'The transformations are applied to them: hoist.',
      ],
    })
    const [newest] = (
      added.body as { records: readonly { read: { value: { text: string } }; result: { value: { text: string } } }[] }
    ).records
    expect(newest?.result.value.text).toBe(`{"line":${newest?.read.value.text}}`)
    await callAs(undefined, url, 'PUT /connectors/lines/config', { ...STRINGS, ...HOIST, transforms: 'hoist' })
    expect((await preview(url, { ...STRINGS, ...HOIST, transforms: 'hoist' }, 'lines')).body).toMatchObject({
      notes: [expect.anything(), 'They have passed the transformations of this configuration already.'],
    })
    expect((await preview(url, STRINGS, 'lines')).body).toMatchObject({
      notes: [expect.anything(), expect.stringContaining('No transformation is applied')],
    })
  })
})

describe('the preview with plugins of an installed module', { tags: ['slow'] }, () => {
  const installed = () =>
    startTestWorker(
      { 'plugin.path': INSTALLED, 'worker.thread.blocked.max.ms': '500' },
      { openPlugins: ProcessPluginHost.open },
    )
  const withTransforms = (...classes: readonly string[]) => ({
    ...SINK,
    ...JSON_VALUES,
    transforms: classes.join(','),
    ...Object.fromEntries(classes.map((name) => [`transforms.${name}.type`, name])),
  })

  it('runs in their process beside shipped plugins: one that throws, and one that returns no record', async () => {
    const { url, broker } = await installed()
    await produce(broker, 'orders', values('"good"', '"bad"'))
    expect((await preview(url, withTransforms('Refuses'))).body).toMatchObject({
      records: [
        {
          result: null,
          failure: {
            stage: 'TRANSFORMATION',
            className: 'Refuses',
            exceptionClass: 'TypeError',
            message: 'it contains bad',
          },
        },
        { result: { value: { text: '"good"' } }, failure: null },
      ],
    })
    expect((await preview(url, withTransforms('Strange'))).body).toMatchObject({
      records: [{ result: expect.anything(), failure: null }, expect.anything()],
    })
  })

  it('ends one that does not return, and reports where it was, while the worker serves other requests', async () => {
    const { url, broker } = await installed()
    await produce(broker, 'orders', values('"good"'))
    const running = preview(url, withTransforms('Loops'))
    expect((await callAs(undefined, url, 'GET /connectors')).status).toBe(200)
    expect(await running).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^Loops .*500 ms.*during a preview of records.*spin/s) },
    })
    expect((await preview(url, withTransforms('Refuses'))).status).toBe(200)
  })
})

describe('the right to a preview', () => {
  it('is that to write the connector and that to read each of its topics', async () => {
    const users = { root: 'admin', dev: 'developer', rea: 'readonly', none: 'none', own: 'none' } as const
    const permissions = {
      users: {
        rea: [{ topics: ['orders'], operations: ['read'] }],
        own: [
          { connectors: ['orders/*'], operations: ['write'] },
          { topics: ['orders'], operations: ['read'] },
        ],
      },
    }
    const { url, broker } = await startTestWorker(await basicAuthSettings(users, permissions))
    for (const topic of ['orders', 'others']) await produce(broker, topic, values('"not for everybody"'))
    const statusOf = async (user: string | undefined, topics: string, name = 'orders/sink') =>
      (await preview(url, { ...SINK, ...JSON_VALUES, topics }, name, user)).status
    const statuses = (user: string | undefined) =>
      Promise.all([statusOf(user, 'orders'), statusOf(user, 'orders,others'), statusOf(user, 'orders', 'x')])
    expect(await statuses('root')).toEqual([200, 200, 200])
    expect(await statuses('own')).toEqual([200, 403, 403])
    for (const user of ['dev', 'rea', 'none']) expect(await statuses(user)).toEqual([403, 403, 403])
    expect(await statuses(undefined)).toEqual([401, 401, 401])
    const { topics: _, ...sink } = SINK
    const all = await preview(url, { ...sink, ...JSON_VALUES, 'topics.regex': 'o.*' }, 'orders/sink', 'own')
    expect(all.body).toMatchObject({ topics: ['orders'] })
    for (const topics of ['connect-configs', '__consumer_offsets', '_schemas'])
      expect(await statusOf('root', topics)).toBe(403)
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    const line = 'POST /ui/api/connectors/orders%2Fsink/preview'
    expect((await callAs('root', url, line, { config: SINK }, foreign)).status).toBe(403)
  })
})
