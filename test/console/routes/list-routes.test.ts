import { expect, it, onTestFinished } from 'vitest'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

const LOG_IN = { root: 'admin', ann: 'none' } as const

it('The summaries of subjects have the level in force and where it comes from, and only subjects that the user may read', async () => {
  const permissions = { users: { ann: [{ subjects: ['orders-*'], operations: ['read'] }] } }
  const registry = await startTestRegistry(await basicAuthSettings(LOG_IN, permissions))
  onTestFinished(() => registry.stop())
  const call = (line: string, body?: unknown, user = 'root') => callAs(user, registry.url, line, body)
  const schema = (name: string) => ({ schema: JSON.stringify({ type: 'enum', name, symbols: ['A'] }) })
  for (const [subject, name] of [
    ['orders-value', 'A'],
    ['orders-value', 'B'],
    ['payments-value', 'A'],
    ['gone', 'A'],
    [':.team:orders-key', 'A'],
  ] as const) {
    await call(`PUT /config/${subject}`, { compatibility: 'NONE' })
    expect((await call(`POST /subjects/${subject}/versions`, schema(name))).status).toBe(200)
  }
  await call('DELETE /config/payments-value')
  await call('DELETE /config/:.team:orders-key')
  await call('PUT /config/:.team:', { compatibility: 'FULL' })
  await call('DELETE /subjects/gone')
  const { body } = await call('GET /ui/api/subjects')
  const time = expect.any(Number)
  expect(body).toEqual([
    [':.team:orders-key', 'AVRO', 1, 1, 1, 'FULL', false, time, false],
    ['orders-value', 'AVRO', 2, 2, 2, 'NONE', true, time, false],
    ['payments-value', 'AVRO', 1, 1, 1, 'BACKWARD', false, time, false],
  ])
  const all = await call('GET /ui/api/subjects?deleted=true')
  expect(all.body).toContainEqual(['gone', 'AVRO', 1, 1, 1, 'NONE', true, time, true])
  const own = await call('GET /ui/api/subjects', undefined, 'ann')
  expect(own.body).toEqual([expect.arrayContaining(['orders-value'])])
  expect((await call('GET /ui/api/subjects', undefined, 'stranger')).status).toBe(401)
})

it('The topics of all connectors are those that each has used, of connectors that the user may read', async () => {
  const permissions = { users: { ann: [{ connectors: ['own-*'], operations: ['read'] }] } }
  const { url } = await startTestWorker(await basicAuthSettings(LOG_IN, permissions))
  const config = { 'connector.class': 'Datagen', 'kafka.topic': 'lines', quickstart: 'users' }
  for (const name of ['own-lines', 'other'])
    expect(
      await callAs('root', url, 'POST /connectors', { name, config: { ...config, name }, initial_state: 'STOPPED' }),
    ).toMatchObject({ status: 201 })
  const topicsAs = async (user: string) => (await callAs(user, url, 'GET /ui/api/connector-topics')).body
  expect(await topicsAs('root')).toMatchObject({ topics: { other: [], 'own-lines': [] } })
  const converter = 'org.apache.kafka.connect.json.JsonConverter'
  expect(await topicsAs('ann')).toEqual({
    topics: { 'own-lines': [] },
    defaultConverters: { 'key.converter': converter, 'value.converter': converter },
  })
})

it('Two versions are compared in both directions, whatever the level of the subject is', async () => {
  const registry = await startTestRegistry()
  onTestFinished(() => registry.stop())
  const call = (line: string, body?: unknown) => callAs(undefined, registry.url, line, body)
  const record = (...fields: readonly object[]) => ({
    schema: JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'id', type: 'long' }, ...fields] }),
  })
  await call('PUT /config', { compatibility: 'NONE' })
  const versions = [
    record(),
    record({ name: 'note', type: 'string' }),
    record({ name: 'note', type: 'string', default: '' }),
    { schemaType: 'JSON', schema: '{}' },
  ]
  for (const version of versions)
    expect(await call('POST /subjects/orders-value/versions', version)).toMatchObject({ status: 200 })
  const compare = async (from: string, to: string) =>
    (await call(`GET /ui/api/subjects/orders-value/comparison?from=${from}&to=${to}`)).body
  expect(await compare('1', '2')).toEqual({
    backward: [expect.stringContaining('READER_FIELD_MISSING_DEFAULT_VALUE')],
    forward: [],
  })
  expect(await compare('1', '3')).toEqual({ backward: [], forward: [] })
  expect(await compare('2', '1')).toEqual({
    backward: [],
    forward: [expect.stringContaining('READER_FIELD_MISSING_DEFAULT_VALUE')],
  })
  const types = ['The versions have different schema types.']
  expect(await compare('3', '4')).toEqual({ backward: types, forward: types })
  expect(await compare('1', '9')).toMatchObject({ error_code: 40402 })
  expect(await compare('1', 'x')).toMatchObject({ error_code: 42202 })
})
