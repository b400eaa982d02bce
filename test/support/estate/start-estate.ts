import { randomUUID } from 'node:crypto'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Broker } from '../../../src/broker/broker.ts'
import { createWorkerClient, type ExpandedConnector } from '../../../src/clients/worker-client.ts'
import { mapConcurrently } from '../../../src/common/map-concurrently.ts'
import { type JavaConnect, startJavaConnect } from '../../env/java-connect.ts'
import type { MavenPluginAddress } from '../../env/maven-plugin.ts'
import { partDirectory } from '../../env/workspace.ts'
import { installPlugins } from '../java-plugins.ts'
import { createJavaClient } from '../java-requests.ts'
import { LineWriter, writeLines } from '../numbered-lines.ts'
import { type RegistryProcess, startRegistryProcess } from '../registry-process.ts'
import { until } from '../until.ts'
import { ESTATE_WORKER, type EstateConnector, estateConnectors } from './connectors.ts'
import { type EstateRegistry, estateRegistry } from './schemas-topic.ts'

export type EstateParts = {
  readonly bootstrap: string
  readonly broker: Broker
  readonly plugins: readonly MavenPluginAddress[]
  /** The value of `java.host.directory`. */
  readonly hostDirectory: string
  readonly subjects: number
  /** Default: `ESTATE_SETTINGS`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** A Java Connect cluster with sixty connectors, through which records flow, and a registry on a topic of Confluent's. */
export type Estate = {
  /** Group id of the workers, and prefix of all topics. */
  readonly groupId: string
  readonly files: string
  readonly pluginPath: string
  readonly connectors: readonly EstateConnector[]
  readonly content: EstateRegistry
  readonly java: JavaConnect
  readonly registry: RegistryProcess
  readonly schemasTopic: string
  /** Writes to the file that is copied through a topic to another file. */
  readonly writer: LineWriter
  stop(): Promise<void>
}

/** Kafka's test plugins, which a Java worker does not load from the plugin path. */
const TEST_PLUGINS = 'connect-test-plugins'
const WAIT = { everyMs: 100, timeoutMs: 180_000 }

/** Settings with which both kinds of workers run the connectors. */
export const ESTATE_SETTINGS: Readonly<Record<string, string>> = {
  ...ESTATE_WORKER,
  'offset.flush.interval.ms': '1000',
  // The session timeouts of a killed worker and a killed sink.
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '1000',
  'consumer.session.timeout.ms': '6000',
  'consumer.heartbeat.interval.ms': '1000',
}

export async function startEstate({
  bootstrap,
  broker,
  plugins,
  hostDirectory,
  subjects,
  settings = ESTATE_SETTINGS,
}: EstateParts): Promise<Estate> {
  const groupId = `estate-${randomUUID().slice(0, 8)}`
  const files = partDirectory('estate')
  let pluginPath = ''
  for (const plugin of plugins) pluginPath = await installPlugins(plugin, hostDirectory, files)
  const [java, { registry, content, schemasTopic }] = await Promise.all([
    startJavaWorkerOf({ bootstrap, groupId, pluginPath, settings }),
    startRegistryOf({ bootstrap, broker, groupId, subjects }),
  ])
  for (const at of [1, 2]) writeLines(join(files, `in-${at}.txt`), 500)
  const writer = new LineWriter(join(files, 'in-0.txt'), 20)
  const connectors = estateConnectors({ bootstrap, prefix: groupId, files })
  const client = createJavaClient(java.url)
  for (const { name, config, state } of connectors) await client.create(name, config, state)
  await untilStates(java.url, connectors)
  return {
    groupId,
    files,
    pluginPath,
    connectors,
    content,
    java,
    registry,
    schemasTopic,
    writer,
    async stop() {
      await Promise.all([writer.stop(), java.stop(), registry.stop()])
    },
  }
}

export function startJavaWorkerOf({
  bootstrap,
  groupId,
  pluginPath,
  settings = ESTATE_SETTINGS,
}: {
  readonly bootstrap: string
  readonly groupId: string
  readonly pluginPath: string
  readonly settings?: Readonly<Record<string, string>>
}): Promise<JavaConnect> {
  const jarsOf = (location: string) => {
    const files = readdirSync(join(pluginPath, location), { recursive: true, encoding: 'utf8' })
    return files.filter((name) => name.endsWith('.jar')).map((jar) => join(pluginPath, location, jar))
  }
  const locations = readdirSync(pluginPath)
  const isKafkas = (location: string) => location.startsWith(TEST_PLUGINS)
  return startJavaConnect({
    bootstrap,
    groupId,
    properties: settings,
    plugins: Object.fromEntries(locations.filter((one) => !isKafkas(one)).map((one) => [one, jarsOf(one)])),
    libraries: locations.filter(isKafkas).flatMap(jarsOf),
  })
}

async function startRegistryOf({
  bootstrap,
  broker,
  groupId,
  subjects,
}: Omit<EstateParts, 'plugins' | 'hostDirectory'> & { readonly groupId: string }) {
  const schemasTopic = `${groupId}-schemas`
  const content = estateRegistry(subjects)
  await broker.topics.create({ name: schemasTopic, partitions: 1, configs: { 'cleanup.policy': 'compact' } })
  const producer = await broker.producer()
  await producer.send(content.records.map((record) => ({ ...record, topic: schemasTopic, partition: 0 })))
  await producer.close()
  const registry = await startRegistryProcess(['--bootstrap', bootstrap], {
    'brokerstore.topic': schemasTopic,
    'schema.registry.group.id': `${groupId}-registries`,
  })
  return { registry, content, schemasTopic }
}

/** Waits until a worker shows each connector in the state in which it should be. */
export async function untilStates(url: string, connectors: readonly EstateConnector[]): Promise<void> {
  const client = createWorkerClient({ url, timeoutMs: 120_000 })
  let different: readonly string[] = []
  const isAsExpected = async () => {
    const found = await mapConcurrently(connectors, async (connector) => {
      const [info, status] = await Promise.all([client.get(connector.name), client.status(connector.name)])
      return isInState(connector, { info, status }, new URL(url).host)
        ? []
        : [`${connector.name}: ${JSON.stringify(status)}`]
    })
    different = found.flat()
    return different.length === 0
  }
  try {
    await until('the states of the connectors', WAIT, () => isAsExpected().catch(() => false))
  } catch (error) {
    throw new Error(`these connectors are in another state:\n${different.join('\n')}`, { cause: error })
  }
}

function isInState({ state, fails }: EstateConnector, { info, status }: ExpandedConnector, worker: string): boolean {
  if (info === undefined || status === undefined) return false
  const { connector, tasks } = status
  if (fails === 'connector') return connector.state === 'FAILED'
  if (connector.state !== state || (state === 'RUNNING' && connector.worker_id !== worker)) return false
  if (state !== 'RUNNING') return tasks.every((task) => task.state === state)
  const expected = fails === 'task' ? 'FAILED' : 'RUNNING'
  return tasks.length > 0 && tasks.every((task) => task.state === expected && task.worker_id === worker)
}

/** Writes the operator's configuration for these runtimes. */
export function operatorConfiguration(files: string, runtimes: { readonly worker: string; readonly registry: string }) {
  const path = join(files, 'operator.yaml')
  const entry = (url: string) => [{ name: 'default', url, allowedNamespaces: { from: 'All' }, observeInterval: '1s' }]
  const configuration = {
    apiVersion: 'config.weir.dev/v1alpha1',
    kind: 'OperatorConfig',
    allowInlineSecrets: true,
    workers: entry(runtimes.worker),
    registries: entry(runtimes.registry),
  }
  // JSON is YAML.
  writeFileSync(path, JSON.stringify(configuration))
  return path
}
