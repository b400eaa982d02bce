import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findJava, startJava } from './java.ts'
import { writeLogging } from './java-logging.ts'
import { KAFKA_VERSIONS, type KafkaAddress } from './kafka.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { partDirectory } from './workspace.ts'

export type JavaConnectAddress = { readonly url: string; readonly version: string }

const VERSION = KAFKA_VERSIONS[0]
const READY_TIMEOUT_MS = 180_000
const JVM = ['-Xms128m', '-Xmx1g', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']

/** One distributed worker of Apache Kafka Connect on the shared broker, for comparison. */
export function javaConnectPart(name: string, kafka: Part<KafkaAddress>): Part<JavaConnectAddress> {
  return {
    name,
    version: VERSION,
    find: () => findJava('connect', VERSION),
    async start(bring) {
      const { bootstrap } = await bring(kafka)
      const connect = await startJavaConnect({ bootstrap, groupId: 'java-connect' })
      return { address: { url: connect.url, version: VERSION }, stop: () => connect.stop() }
    },
  }
}

export type JavaConnectOptions = {
  readonly bootstrap: string
  /** Also the prefix of the names of its three topics. */
  readonly groupId: string
  readonly properties?: Readonly<Record<string, string>>
  /** Plugins to install: the jars of each location of the plugin path. */
  readonly plugins?: Readonly<Record<string, readonly string[]>>
  /** Jars of plugins that Kafka Connect finds on the class path only, because their packages are Kafka's own. */
  readonly libraries?: readonly string[]
  readonly jvm?: readonly string[]
}
export type JavaConnect = JavaConnectAddress & {
  /** Working directory, to which file names of its connectors are relative. */
  readonly directory: string
  readonly logFile: string
  readonly pid: number | undefined
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Starts a worker and waits until it has joined its group and read its topics. Takes about 3 s. */
export async function startJavaConnect(options: JavaConnectOptions): Promise<JavaConnect> {
  const directory = partDirectory('connect')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const file = join(directory, 'connect.properties')
  const pluginPath = installPlugins(join(directory, 'plugins'), options.plugins ?? {})
  const libraries = join(directory, 'libraries')
  mkdirSync(libraries)
  for (const jar of options.libraries ?? []) copyFileSync(jar, join(libraries, basename(jar)))
  const properties = { ...workerProperties(options, port), ...pluginPath, ...options.properties }
  writeFileSync(
    file,
    Object.entries(properties)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  const server = await startJava({
    bundle: 'connect',
    version: VERSION,
    main: 'org.apache.kafka.connect.cli.ConnectDistributed',
    args: [file],
    jvm: [...(options.jvm ?? JVM), writeLogging(directory, VERSION)],
    usesClassArchive: options.jvm === undefined,
    directory,
    ...(options.libraries && { moreClasspath: join(libraries, '*') }),
  })
  const logFiles = [join(directory, 'output.log'), join(directory, 'server.log')]
  const what = `Java Connect ${VERSION}`
  await untilReady(server, { what, logFiles, timeoutMs: READY_TIMEOUT_MS }, () => answers(`${url}/connectors`))
  return {
    url,
    version: VERSION,
    directory,
    logFile: join(directory, 'server.log'),
    pid: server.pid,
    kill: () => server.kill(),
    async stop() {
      await server.stop()
      removeDirectory(directory)
    },
  }
}

function workerProperties({ bootstrap, groupId }: JavaConnectOptions, port: number): Record<string, string> {
  return {
    'bootstrap.servers': bootstrap,
    'group.id': groupId,
    'key.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'config.storage.topic': `${groupId}-configs`,
    'config.storage.replication.factor': '1',
    'offset.storage.topic': `${groupId}-offsets`,
    'offset.storage.replication.factor': '1',
    'offset.storage.partitions': '5',
    'status.storage.topic': `${groupId}-status`,
    'status.storage.replication.factor': '1',
    'status.storage.partitions': '3',
    listeners: `http://127.0.0.1:${port}`,
    'rest.advertised.host.name': '127.0.0.1',
    'rest.advertised.port': String(port),
    // Needs half the startup time and a third of the memory. All bundled plugins have a manifest.
    'plugin.discovery': 'service_load',
  }
}

/** Copies the jars below the directory of the worker, the only one that a container sees. Returns the setting. */
function installPlugins(path: string, plugins: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  for (const [location, jars] of Object.entries(plugins)) {
    mkdirSync(join(path, location), { recursive: true })
    for (const jar of jars) copyFileSync(jar, join(path, location, basename(jar)))
  }
  return Object.keys(plugins).length === 0 ? {} : { 'plugin.path': path }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok
  } catch {
    return false
  }
}
