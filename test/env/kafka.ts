import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findJava, type JavaRun, type JavaServer, runJava, SHORT_LIVED, startJava } from './java.ts'
import { writeLogging } from './java-logging.ts'
import type { Part } from './part.ts'
import { freePort } from './ports.ts'
import { type Output, untilReady } from './process.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

/** The latest 4.x and the last 3.x. The contract suite runs on both. */
export const KAFKA_VERSIONS = ['4.3.1', '3.9.2'] as const
export type KafkaVersion = (typeof KAFKA_VERSIONS)[number]

export type KafkaAddress = { readonly bootstrap: string; readonly version: string }

/** A cluster of one broker that is shared by all tests of a run: use unique topics and groups. */
export function kafkaPart(name: string, version: KafkaVersion, variable: string): Part<KafkaAddress> {
  const named = () => process.env[variable]
  return {
    name,
    version,
    async find() {
      if (named() !== undefined) return { how: 'environment', detail: `${variable}=${named()}`, cached: true }
      return findJava('kafka', version)
    },
    async start() {
      const bootstrap = named()
      if (bootstrap !== undefined) return { address: { bootstrap, version: 'named' }, stop: async () => {} }
      const kafka = await startKafka({ version })
      return { address: { bootstrap: kafka.bootstrap, version }, stop: () => kafka.stop() }
    },
  }
}

export type SecurityProtocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'
export type KafkaOptions = {
  /** Default: the latest. */
  readonly version?: KafkaVersion
  /** Listeners in addition to the plain one, by name. */
  readonly listeners?: Readonly<Record<string, SecurityProtocol>>
  /** Advertised hosts by listener; default: 127.0.0.1. */
  readonly hosts?: Readonly<Record<string, string>>
  /** Settings in server.properties, which override the defaults. */
  readonly properties?: Readonly<Record<string, string>>
  /** Further arguments of `kafka-storage format`, such as `--add-scram`. */
  readonly format?: readonly string[]
  readonly jvm?: readonly string[]
}

/** A broker for one test. `listeners` has a `host:port` for each name; `bootstrap` is the plain listener. */
export type Kafka = KafkaAddress & {
  readonly listeners: Readonly<Record<string, string>>
  /** Directory with its log segments, in folders `TOPIC-PARTITION`. */
  readonly dataDirectory: string
  /** Undefined in a container. */
  pid(): number | undefined
  /** Sends SIGKILL and keeps the data. */
  kill(): Promise<void>
  /** Sends SIGTERM for a controlled shutdown, in which it gives up its partition leadership. Keeps the data. */
  shutDown(): Promise<void>
  /** After `kill` or `shutDown`: starts it with the same data and ports. */
  restart(): Promise<void>
  /** Stops it and removes the data. */
  stop(): Promise<void>
}

const READY_TIMEOUT_MS = 180_000
const SHUTDOWN_MS = 30_000

/** Starts a cluster of one broker and waits until it is ready. Takes 3 s, plus 10 s if the jars are not cached. */
export async function startKafka(options: KafkaOptions = {}): Promise<Kafka> {
  const version = options.version ?? KAFKA_VERSIONS[0]
  const directory = partDirectory(`kafka-${version}`)
  const ports = await portsOf(['PLAINTEXT', 'CONTROLLER', ...Object.keys(options.listeners ?? {})])
  const properties = { ...serverProperties(directory, version, ports, options), ...options.properties }
  writeProperties(join(directory, 'server.properties'), properties)
  const logging = writeLogging(directory, version)
  await format(directory, version, logging, options.format ?? [])

  const { CONTROLLER: _, ...listeners } = Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [name, `127.0.0.1:${port}`]),
  )
  const bootstrap = listeners['PLAINTEXT']!
  const start = () => startBroker(directory, version, bootstrap, jvmOf(options.jvm, logging))
  let server = await start()
  return {
    version,
    listeners,
    bootstrap,
    dataDirectory: join(directory, 'data'),
    pid: () => server.pid,
    kill: () => server.kill(),
    shutDown: async () => void (await server.end(SHUTDOWN_MS)),
    async restart() {
      server = await start()
    },
    async stop() {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Benchmarks pass JVM arguments. For them, the JVM starts without a class-data archive, as it does in production. */
function jvmOf(own: readonly string[] | undefined, logging: string): Pick<JavaRun, 'jvm' | 'usesClassArchive'> {
  return { jvm: [...(own ?? SHORT_LIVED), logging], usesClassArchive: own === undefined }
}

export type KafkaToolOptions = { readonly version?: KafkaVersion; readonly jvm?: readonly string[] }

/** Runs a command line tool of Kafka: a class in `org.apache.kafka.tools`, such as `consumer.ConsoleConsumer`. */
export async function kafkaTool(
  tool: string,
  args: readonly string[],
  options: KafkaToolOptions = {},
): Promise<Output> {
  const version = options.version ?? KAFKA_VERSIONS[0]
  const directory = partDirectory('tool')
  const logging = writeLogging(directory, version)
  const main = `org.apache.kafka.tools.${tool}`
  try {
    return await runJava({ bundle: 'kafka', version, main, args, ...jvmOf(options.jvm, logging), directory })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function format(directory: string, version: string, logging: string, args: readonly string[]): Promise<void> {
  const clusterId = randomBytes(16).toString('base64url')
  const { code, stdout, stderr } = await runJava({
    bundle: 'kafka',
    version,
    main: 'kafka.tools.StorageTool',
    // An id may begin with a dash, and a separate argument would be parsed as an option.
    args: ['format', `--cluster-id=${clusterId}`, '-c', join(directory, 'server.properties'), ...args],
    ...jvmOf(undefined, logging),
    directory,
  })
  if (code !== 0) throw new Error(`Kafka ${version} could not format its storage:\n${stdout}${stderr}`)
}

async function startBroker(
  directory: string,
  version: string,
  bootstrap: string,
  java: Pick<JavaRun, 'jvm' | 'usesClassArchive'>,
): Promise<JavaServer> {
  const logFile = join(directory, 'server.log')
  rmSync(logFile, { force: true })
  const args = [join(directory, 'server.properties')]
  const server = await startJava({ bundle: 'kafka', version, main: 'kafka.Kafka', args, ...java, directory })
  const logFiles = [join(directory, 'output.log'), logFile]
  // The port opens before the broker is ready. This line is logged last. In a container the port may not be reachable.
  const hasStarted = () => existsSync(logFile) && readFileSync(logFile, 'utf8').includes('Kafka Server started')
  const started = async () => hasStarted() && (await accepts(bootstrap))
  await untilReady(server, { what: `Kafka ${version}`, logFiles, timeoutMs: READY_TIMEOUT_MS }, started)
  return server
}

function serverProperties(
  directory: string,
  version: string,
  ports: Readonly<Record<string, number>>,
  { hosts = {}, ...options }: KafkaOptions,
): Record<string, string> {
  const protocols = { PLAINTEXT: 'PLAINTEXT', CONTROLLER: 'PLAINTEXT', ...options.listeners }
  const listeners = Object.entries(ports).map(([name, port]) => `${name}://127.0.0.1:${port}`)
  const advertised = Object.entries(ports).map(([name, port]) => `${name}://${hosts[name] ?? '127.0.0.1'}:${port}`)
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${ports['CONTROLLER']}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    listeners: listeners.join(','),
    'advertised.listeners': advertised.filter((listener) => !listener.startsWith('CONTROLLER:')).join(','),
    'listener.security.protocol.map': Object.entries(protocols)
      .map((pair) => pair.join(':'))
      .join(','),
    'log.dirs': join(directory, 'data'),
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '5',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '5',
    'group.initial.rebalance.delay.ms': '0',
    // Lets tests use short session timeouts, so that the group removes a closed member quickly.
    'group.min.session.timeout.ms': '1000',
    // A broker that was killed cannot register again until its session has timed out.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '500',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'background.threads': '2',
    // The default would be half of this small heap, and the broker ran out of memory at startup.
    'log.cleaner.dedupe.buffer.size': '8388608',
    ...(version.startsWith('3.') ? {} : shareCoordinator),
  }
}

const shareCoordinator = {
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'share.coordinator.state.topic.num.partitions': '1',
}

async function portsOf(names: readonly string[]): Promise<Readonly<Record<string, number>>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()] as const)))
}

function writeProperties(file: string, properties: Readonly<Record<string, string>>): void {
  const lines = Object.entries(properties).map(
    ([key, value]) => `${key}=${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`,
  )
  writeFileSync(file, lines.join(''))
}
