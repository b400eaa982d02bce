import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerActivityClient } from '../../src/clients/worker-activity-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { run } from '../env/process.ts'
import { temporaryDirectory } from './temporary-directory.ts'
import { until } from './until.ts'
import { startUp } from './up.ts'

const WAIT = { everyMs: 100, timeoutMs: 120_000 }
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const JSON_VALUES = {
  'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
  'value.converter.schemas.enable': 'false',
}
type ListedResource = { readonly name: string; readonly drift?: string }

const PAYMENTS = ['{"id":1}', '{"id":2}']
/** The first of these is no JSON. */
const LATER_PAYMENTS = ['no payment', '{"id":4}']

/**
 * A running `weir up` in a git checkout, in the state of docs/tasks.md: a failed connector, an incompatible schema, dead letters, lag and
 * drift. What resources do not declare is created by REST, as it is changed so.
 */
export async function startTaskEstate() {
  const directory = temporaryDirectory()
  const manifests = join(directory, 'manifests')
  for (const created of [manifests, join(directory, 'prepared')]) mkdirSync(created)
  writeFileSync(join(directory, 'payments.txt'), `${PAYMENTS.join('\n')}\n`)
  const declare = (kind: string, name: string, spec: object, folder = 'manifests') =>
    writeFileSync(
      join(directory, folder, `${name}.yaml`),
      stringify({ apiVersion: API_VERSION, kind, metadata: { name }, spec }),
    )
  const source = (topic: string) => ({
    class: 'FileStreamSource',
    driftPolicy: 'Report',
    config: { file: '/dev/null', topic, 'value.converter': STRING },
  })
  const customers = (...fields: readonly object[]) =>
    JSON.stringify({ type: 'record', name: 'Customer', fields: [{ name: 'id', type: 'long' }, ...fields] })
  declare('Subject', 'customers-value', { compatibility: 'BACKWARD', schema: customers() })
  declare('Connector', 'stock', source('stock'))
  declare('Connector', 'prices', source('prices'))
  declare('Connector', 'new', source('new'), 'prepared')
  const git = async (...args: readonly string[]) => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com']
    const output = await run({ file: 'git', args: [...identity, ...args], directory })
    if (output.code !== 0) throw new Error(`git ${args.join(' ')}: ${output.stderr}`)
  }
  await git('init', '--quiet')
  await git('add', 'manifests/prices.yaml')
  await git('commit', '--quiet', '--message', 'before')

  const up = await startUp({
    manifests: 'manifests',
    directory,
    log: [],
    args: ['--set', 'worker.offset.flush.interval.ms=500'],
  })
  const [worker, registry] = [createWorkerClient({ url: up.workerUrl }), createRegistryClient({ url: up.registryUrl })]
  await up.untilLine('Subject', 'customers-value', ({ ready }) => ready === 'True')
  declare('Connector', 'prices', source('prices-2'))
  await git('commit', '--quiet', '--message', 'after', 'manifests/prices.yaml')
  declare('Subject', 'customers-value', {
    compatibility: 'BACKWARD',
    schema: customers({ name: 'note', type: 'string', default: '' }),
  })
  await until('the second version', WAIT, async () => (await registry.versions('customers-value')).length === 2)
  declare('Subject', 'customers-value', {
    compatibility: 'BACKWARD',
    schema: customers({ name: 'name', type: 'string' }),
  })
  await up.untilLine('Subject', 'customers-value', ({ reason }) => reason === 'Incompatible')
  for (const name of ['stock', 'prices']) await up.untilLine('Connector', name, ({ ready }) => ready === 'True')
  const { config } = await worker.get('stock')
  await worker.putConfig('stock', { ...config, topic: 'changed' })

  const server = await createOrders(worker, directory, up.registryUrl)
  await createPayments(worker, directory)
  const offsetOf = async (name: string) => (await worker.offsets(name))[0]?.offset?.['kafka_offset']
  await until('the first payments', WAIT, async () => (await offsetOf('payments-archive')) === PAYMENTS.length)
  appendFileSync(join(directory, 'payments.txt'), `${LATER_PAYMENTS.join('\n')}\n`)
  for (let number = 1; number <= 20; number++)
    await worker.create(`test-${String(number).padStart(2, '0')}`, {
      ...{ 'connector.class': 'FileStreamSource', file: '/dev/null', topic: 'test', 'value.converter': STRING },
    })
  const stateOf = async (name: string) =>
    worker.status(name).then(
      ({ connector, tasks }) => tasks.map(({ state }) => state).join(' ') || connector.state,
      () => 'unknown',
    )
  await until('the failed task', WAIT, async () => (await stateOf('payments-archive')) === 'FAILED')
  await until('the test connectors', WAIT, async () => (await stateOf('test-20')) === 'RUNNING')
  const total = PAYMENTS.length + LATER_PAYMENTS.length
  await until('the dead letter', WAIT, async () => (await offsetOf('payments-file')) === total)
  await until('the lag', WAIT, async () => {
    const lagOf = await createWorkerActivityClient({ url: up.workerUrl }).lags('orders-http')
    const lag = lagOf('orders-0') ?? 0
    // A sink reports its lag between two records.
    if (lag === 0) server.release()
    return lag > 0
  })
  const consoleUrl = await up.untilConsole()
  await until('the drift', WAIT, async () => {
    const resources = (await (await fetch(`${consoleUrl}/ui/api/resources`)).json()) as readonly ListedResource[]
    return resources.some(({ name, drift }) => name === 'stock' && drift !== undefined)
  })
  return { consoleUrl, directory, up, worker, registry, stateOf }
}

/** A source with the subject `orders-value`, a sink that follows it, and one that falls behind. */
async function createOrders(worker: WorkerClient, directory: string, registryUrl: string) {
  const avro = {
    'value.converter': 'io.confluent.connect.avro.AvroConverter',
    'value.converter.schema.registry.url': registryUrl,
  }
  await worker.create('orders', {
    ...{ 'connector.class': 'Datagen', 'kafka.topic': 'orders', quickstart: 'orders', ...avro },
    ...{ iterations: '200', 'max.interval': '0' },
  })
  await worker.create('orders-file', {
    ...{ 'connector.class': 'FileStreamSink', topics: 'orders', file: join(directory, 'orders.txt'), ...avro },
    'errors.tolerance': 'all',
  })
  const server = await startHeldServer()
  await worker.create('orders-http', {
    ...{ 'connector.class': 'HttpSink', topics: 'orders', 'http.api.url': server.url, ...avro },
    'consumer.override.max.poll.records': '1',
  })
  return server
}

/** A source whose third record one sink cannot convert, and another one puts into its dead-letter topic. */
async function createPayments(worker: WorkerClient, directory: string): Promise<void> {
  await worker.create('payments', {
    ...{ 'connector.class': 'FileStreamSource', file: join(directory, 'payments.txt'), topic: 'payments' },
    'value.converter': STRING,
  })
  const sink = (name: string) => ({
    ...{ 'connector.class': 'FileStreamSink', topics: 'payments', file: join(directory, `${name}.txt`) },
    ...JSON_VALUES,
  })
  await worker.create('payments-archive', sink('archive'))
  await worker.create('payments-file', {
    ...sink('file'),
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': 'payments-dead',
    'errors.deadletterqueue.topic.replication.factor': '1',
    'errors.deadletterqueue.context.headers.enable': 'true',
  })
}

/** A server that responds to the requests that wait when `release` is called, so that a sink falls behind. */
async function startHeldServer() {
  const waiting: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    waiting.push(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release: () => {
      for (const response of waiting.splice(0)) response.end()
    },
  }
}
