import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestRegistry, type TestRegistry } from '../../support/registry.ts'
import { until } from '../../support/until.ts'

let registry: TestRegistry
let page: ReadonlyMap<string, number>

const RECORD = '{"type":"record","name":"R","fields":[]}'

beforeAll(async () => {
  registry = await startTestRegistry()
  const register = (subject: string, schemaType: string, schema: string) =>
    registry.call('POST', `/subjects/${subject}/versions`, { schemaType, schema })
  await register('a', 'AVRO', RECORD)
  await register('a', 'AVRO', RECORD.replace('[]', '[{"name":"f","type":"int","default":1}]'))
  await register('j', 'JSON', '{"type":"object"}')
  // Compared in the compatibility worker.
  await register('j', 'JSON', JSON.stringify({ type: 'object', description: 'x'.repeat(3_000) }))
  await register('p', 'PROTOBUF', 'syntax = "proto3"; message M {}')
  await registry.call('DELETE', '/subjects/a/versions/1')
  await registry.call('GET', '/subjects/nowhere/versions/1')
  await registry.call('GET', '/nowhere')
  // A response is counted after it was sent.
  await until('all requests to be counted', { everyMs: 10, timeoutMs: 25_000 }, async () => {
    page = await metrics()
    return page.get('kafka_schema_registry_api_failure_count_api_failure_count') === 2
  })
})
afterAll(() => registry.stop())

async function metrics(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${registry.url}/metrics`)).text()
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )
}

describe('the registry metrics', () => {
  it.each([
    ['kafka_schema_registry_master_slave_role', 1],
    ['broker_schema_registry_master_slave_role', 1],
    ['kafka_schema_registry_node_count_node_count', 1],
    ['kafka_schema_registry_registered_count_registered_count', 5],
    ['kafka_schema_registry_deleted_count_deleted_count', 1],
    ['kafka_schema_registry_avro_schemas_created_avro_schemas_created', 2],
    ['kafka_schema_registry_avro_schemas_deleted_avro_schemas_deleted', 1],
    ['kafka_schema_registry_json_schemas_created_json_schemas_created', 2],
    ['kafka_schema_registry_protobuf_schemas_created_protobuf_schemas_created', 1],
    ['kafka_schema_registry_custom_schema_provider_count_custom_schema_provider_count', 0],
    ['kafka_schema_registry_jersey_metrics_subjects_versions_register_request_total', 5],
    ['kafka_schema_registry_jersey_metrics_subjects_versions_register_request_error_total', 0],
    ['kafka_schema_registry_jersey_metrics_subjects_versions_get_schema_request_error_total', 1],
    ['kafka_schema_registry_jersey_metrics_request_error_total', 2],
    ['broker_schema_registry_jersey_metrics_request_error_total', 2],
    ['weir_registry_requests_total{endpoint="subjects.versions.register",status="200"}', 5],
    ['weir_registry_requests_total{endpoint="subjects.versions.get-schema",status="404"}', 1],
    ['weir_registry_requests_total{endpoint="none",status="404"}', 1],
    ['kafka_schema_registry_certificate_expiration_keystore_certificate_expiration_keystore', 0],
    ['weir_registry_request_error_ratio', 0],
    ['weir_registry_unreadable_records_total', 0],
    ['weir_registry_id_conflicts_total', 0],
    ['broker_schema_registry_json_schema_provider_metrics_request_error_total', 0],
  ])('include %s with the value %d', (name, value) => {
    expect(page.get(name)).toBe(value)
  })

  it('measure operations on schemas in this process and in the compatibility worker', () => {
    const of = (name: string) => page.get(`broker_schema_registry_json_schema_provider_metrics_${name}`) ?? 0
    expect(of('request_total')).toBeGreaterThanOrEqual(4)
    // The communication with the other process takes time.
    expect(of('request_latency_max')).toBeGreaterThan(1)
    const count = 'weir_registry_schema_operation_duration_seconds_count'
    expect(page.get(`${count}{type="JSON",operation="compare"}`)).toBe(1)
    expect(page.get(`${count}{type="AVRO",operation="compare"}`)).toBe(1)
  })
})

it('counts open, opened and closed connections', async () => {
  const socket = connect(Number(new URL(registry.url).port), '127.0.0.1')
  await once(socket, 'connect')
  const open = async () => (await metrics()).get('kafka_schema_registry_jetty_metrics_connections_active') ?? 0
  const rate = async (what: string) =>
    (await metrics()).get(`kafka_schema_registry_jetty_metrics_connections_${what}_rate`)
  const before = await open()
  // The request for the metrics has a connection of its own.
  expect(before).toBeGreaterThanOrEqual(2)
  expect(await rate('opened')).toBeGreaterThan(0)
  socket.destroy()
  await until('it to be closed', { everyMs: 5, timeoutMs: 25_000 }, async () => (await open()) < before)
  expect(await rate('closed')).toBeGreaterThan(0)
})

it.each(['server.pem', 'server.p12'])(
  'returns the expiry of the certificates in %s and the truststore',
  async (file) => {
    const store = (name: string) => join(import.meta.dirname, '../../support/tls', name)
    const secure = await startTestRegistry({
      listeners: 'http://127.0.0.1:0,https://127.0.0.1:0',
      'ssl.keystore.location': store(file),
      'ssl.keystore.password': 'changeit',
      'ssl.truststore.location': store('ca.pem'),
    })
    const endOf = (name: string) => new X509Certificate(readFileSync(store(name))).validToDate.getTime()
    const text = await (await fetch(`${secure.url}/metrics`)).text()
    const name = (what: string) => `kafka_schema_registry_certificate_expiration_${what}_certificate_expiration_${what}`
    expect(text).toContain(`\n${name('keystore')} ${endOf('server.pem')}\n`)
    expect(text).toContain(`\n${name('truststore')} ${endOf('ca.pem')}\n`)
    await secure.stop()
  },
)

it('parses a large new schema twice: loosely for the lookup and strictly for the registration', {
  tags: ['slow'],
}, async () => {
  const fresh = await startTestRegistry()
  const fields = Array.from({ length: 2_500 }, (_, at) => ({ name: `a_long_name_of_a_field_${at}`, type: 'int' }))
  const schema = JSON.stringify({ type: 'record', name: 'R', fields })
  expect(await fresh.call('POST', '/subjects/large/versions', { schema })).toMatchObject({ status: 200 })
  const name = 'weir_registry_schema_operation_duration_seconds_count{type="AVRO",operation="read"}'
  const text = await (await fetch(`${fresh.url}/metrics`)).text()
  expect(text.split('\n')).toContain(`${name} 2`)
  await fresh.stop()
})

it('returns the sizes of requests and responses, including cached responses', async () => {
  const fresh = await startTestRegistry()
  const body = JSON.stringify({ schema: '"int"' })
  expect(await fresh.call('POST', '/subjects/s/versions', body)).toMatchObject({ status: 200 })
  const sizes: number[] = []
  for (let times = 0; times < 3; times++) {
    sizes.push((await (await fetch(`${fresh.url}/subjects/s/versions/1`)).arrayBuffer()).byteLength)
  }
  const prefix = 'kafka_schema_registry_jersey_metrics_subjects_versions'
  const metric = async (name: string) => {
    const text = await (await fetch(`${fresh.url}/metrics`)).text()
    return Number(new RegExp(`^${prefix}_${name} (.+)$`, 'm').exec(text)?.[1])
  }
  await until(
    'all requests to be counted',
    { everyMs: 10, timeoutMs: 25_000 },
    async () => (await metric('get_schema_request_total')) === 3,
  )
  expect(new Set(sizes).size).toBe(1)
  expect(await metric('get_schema_response_size_avg')).toBe(sizes[0])
  expect(await metric('get_schema_response_byte_rate')).toBeCloseTo((3 * (sizes[0] ?? 0)) / 60)
  expect(await metric('get_schema_request_size_avg')).toBe(0)
  expect(await metric('register_request_size_avg')).toBe(body.length)
  expect(await metric('register_request_byte_rate')).toBeCloseTo(body.length / 60)
  await fresh.stop()
})
