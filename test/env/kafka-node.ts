import { randomBytes } from 'node:crypto'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JavaServer, runJava, SHORT_LIVED, startJava } from './java.ts'
import { writeLogging } from './java-logging.ts'
import { freePort } from './ports.ts'
import { untilReady } from './process.ts'
import { removeDirectory } from './remove-directory.ts'
import { accepts } from './tcp.ts'
import { partDirectory } from './workspace.ts'

export type SecurityProtocol = 'PLAINTEXT' | 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL'

export type KafkaNodeOptions = {
  readonly version: string
  /** Listeners in addition to the plain one, by name. */
  readonly listeners?: Readonly<Record<string, SecurityProtocol>>
  /** Advertised hosts by listener; default: 127.0.0.1. */
  readonly hosts?: Readonly<Record<string, string>>
  /** Settings in server.properties, which override the defaults. */
  readonly properties?: Readonly<Record<string, string>>
  /** JVM arguments; default: those of short-lived programs. */
  readonly jvm?: readonly string[]
  /** Whether the JVM starts without a class-data archive, as it does in production. */
  readonly startsCold?: boolean
}

/** A process of Kafka that is a broker and a controller, with its data directory and a port for each listener. */
export type KafkaNode = {
  readonly id: number
  /** `host:port` of each listener by name. `PLAINTEXT` is the plain one. */
  readonly listeners: Readonly<Record<string, string>>
  /** `host:port` at which it is a controller. */
  readonly controller: string
  /** Directory with its log segments, in folders `TOPIC-PARTITION`. */
  readonly dataDirectory: string
  /** Undefined in a container. */
  pid(): number | undefined
  /** Writes the settings of a node of this cluster. */
  configure(cluster: readonly KafkaNode[]): void
  /** Formats its storage, with further arguments of `kafka-storage format`, such as `--add-scram`. */
  format(args: readonly string[]): Promise<void>
  /** Formats its storage as a copy of another node's, which takes no JVM. */
  formatLike(node: KafkaNode): void
  /** Starts it with the data that it has and its ports, and waits until it is ready. */
  start(): Promise<void>
  /** Gives it other ports for clients, which apply with the next start. Needs `configure` before. */
  relocate(): Promise<void>
  /** Sends SIGKILL and keeps the data. */
  kill(): Promise<void>
  /** Sends SIGTERM for a controlled shutdown, in which it gives up its partition leadership. Keeps the data. */
  shutDown(): Promise<void>
  /** Stops its threads until `thaw` (SIGSTOP); its connections stay open. */
  freeze(): Promise<void>
  thaw(): Promise<void>
  /** Stops it and removes the data. */
  remove(): Promise<void>
}

const READY_TIMEOUT_MS = 180_000
const SHUTDOWN_MS = 30_000

/** A node that is to be configured, formatted and started. */
export async function createKafkaNode(id: number, options: KafkaNodeOptions): Promise<KafkaNode> {
  const { version } = options
  const directory = partDirectory(`kafka-${version}`)
  const protocols = { PLAINTEXT: 'PLAINTEXT', CONTROLLER: 'PLAINTEXT', ...options.listeners }
  let ports = await portsOf(Object.keys(protocols))
  const addressesOf = (ofListeners: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(ofListeners).map(([name, port]) => [name, `127.0.0.1:${port}`]))
  const { CONTROLLER: controller, ...listeners } = addressesOf(ports)
  const dataDirectory = join(directory, 'data')
  const propertiesFile = join(directory, 'server.properties')
  const logging = writeLogging(directory, version)
  const start = () =>
    startBroker(directory, listeners['PLAINTEXT']!, {
      bundle: 'kafka',
      version,
      main: 'kafka.Kafka',
      args: [propertiesFile],
      jvm: [...(options.jvm ?? SHORT_LIVED), logging],
      usesClassArchive: options.startsCold !== true,
      directory,
    })
  let server: JavaServer | undefined
  let configured: readonly KafkaNode[] = []
  const configure = (cluster: readonly KafkaNode[]) => {
    configured = cluster
    const properties = {
      ...networkProperties(id, ports, protocols, options.hosts ?? {}),
      'controller.quorum.voters': cluster.map((node) => `${node.id}@${node.controller}`).join(','),
      'log.dirs': dataDirectory,
      ...SMALL_AND_QUICK,
      ...replication(cluster.length, version),
      ...options.properties,
    }
    writeProperties(propertiesFile, properties)
  }
  return {
    id,
    listeners,
    controller: controller!,
    dataDirectory,
    pid: () => server?.pid,
    async relocate() {
      ports = { ...(await portsOf(Object.keys(listeners))), CONTROLLER: ports['CONTROLLER']! }
      const { CONTROLLER: _, ...moved } = addressesOf(ports)
      Object.assign(listeners, moved)
      configure(configured)
    },
    configure,
    async format(args) {
      const { code, stdout, stderr } = await runJava({
        bundle: 'kafka',
        version,
        main: 'kafka.tools.StorageTool',
        // An id may begin with a dash, and a separate argument would be parsed as an option.
        args: ['format', `--cluster-id=${newId()}`, '-c', propertiesFile, ...args],
        jvm: [...SHORT_LIVED, logging],
        usesClassArchive: true,
        directory,
      })
      if (code !== 0) throw new Error(`Kafka ${version} could not format its storage:\n${stdout}${stderr}`)
    },
    formatLike(node) {
      cpSync(node.dataDirectory, dataDirectory, { recursive: true })
      const file = join(dataDirectory, 'meta.properties')
      const own = readFileSync(file, 'utf8')
        .replace(/^node\.id=.*$/m, `node.id=${id}`)
        .replace(/^directory\.id=.*$/m, `directory.id=${newId()}`)
      writeFileSync(file, own)
    },
    async start() {
      server = await start()
    },
    kill: async () => server?.kill(),
    shutDown: async () => void (await server?.end(SHUTDOWN_MS)),
    freeze: async () => server?.freeze(),
    thaw: async () => server?.thaw(),
    async remove() {
      await server?.stop()
      removeDirectory(directory)
    },
  }
}

async function startBroker(
  directory: string,
  bootstrap: string,
  run: Parameters<typeof startJava>[0],
): Promise<JavaServer> {
  const logFile = join(directory, 'server.log')
  rmSync(logFile, { force: true })
  const server = await startJava(run)
  const logFiles = [join(directory, 'output.log'), logFile]
  // The port opens before the broker is ready. This line is logged last. In a container the port may not be reachable.
  const hasStarted = () => existsSync(logFile) && readFileSync(logFile, 'utf8').includes('Kafka Server started')
  const started = async () => hasStarted() && (await accepts(bootstrap))
  await untilReady(server, { what: `Kafka ${run.version}`, logFiles, timeoutMs: READY_TIMEOUT_MS }, started)
  return server
}

function networkProperties(
  id: number,
  ports: Readonly<Record<string, number>>,
  protocols: Readonly<Record<string, string>>,
  hosts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const listeners = Object.entries(ports).map(([name, port]) => `${name}://127.0.0.1:${port}`)
  const advertised = Object.entries(ports).map(([name, port]) => `${name}://${hosts[name] ?? '127.0.0.1'}:${port}`)
  return {
    'process.roles': 'broker,controller',
    'node.id': String(id),
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    listeners: listeners.join(','),
    'advertised.listeners': advertised.filter((listener) => !listener.startsWith('CONTROLLER:')).join(','),
    'listener.security.protocol.map': Object.entries(protocols)
      .map((pair) => pair.join(':'))
      .join(','),
  }
}

const SMALL_AND_QUICK = {
  'offsets.topic.num.partitions': '5',
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
}

/** Of topics for which nobody states it: as many replicas as nodes, up to three, and one of them may be unavailable. */
function replication(nodes: number, version: string): Readonly<Record<string, string>> {
  const [replicas, inSync] = [String(Math.min(nodes, 3)), String(Math.max(1, Math.min(nodes, 3) - 1))]
  const shareCoordinator = {
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
    'share.coordinator.state.topic.num.partitions': '1',
  }
  return {
    'default.replication.factor': replicas,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    ...(version.startsWith('3.') ? {} : shareCoordinator),
  }
}

async function portsOf(names: readonly string[]): Promise<Readonly<Record<string, number>>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await freePort()] as const)))
}

/** An id as Kafka writes it. */
function newId(): string {
  return randomBytes(16).toString('base64url')
}

function writeProperties(file: string, properties: Readonly<Record<string, string>>): void {
  const lines = Object.entries(properties).map(
    ([key, value]) => `${key}=${value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`,
  )
  writeFileSync(file, lines.join(''))
}
