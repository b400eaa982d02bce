import { authorizer, brokerTls, saslListener, scramLogin, scramUser } from '../support/kafka-security.ts'
import { SHORT_LIVED } from './java.ts'
import { KAFKA_VERSIONS, type KafkaVersion } from './kafka.ts'
import { createKafkaNode, type KafkaNode } from './kafka-node.ts'

export type KafkaClusterOptions = {
  /** Default: the latest. */
  readonly version?: KafkaVersion
  /** Passwords of users by name, who log in with SCRAM-SHA-512 at the listener `SASL_SSL`. */
  readonly users?: Readonly<Record<string, string>>
  /** Turns authorization by ACLs on, and names the users to whom it does not apply. It never applies to the plain listener. */
  readonly superUsers?: readonly string[]
  /** Settings in server.properties of each node, which override the defaults. */
  readonly properties?: Readonly<Record<string, string>>
  /** Advertised hosts by listener; default: 127.0.0.1. */
  readonly hosts?: Readonly<Record<string, string>>
  /**
   * Called with the data directory of each node before anything is written into it, to mount a file system there. Returns
   * the function that `stop` calls.
   */
  readonly mountData?: (directory: string) => Promise<() => Promise<void>>
  /** JVM arguments of each node; default: those of short-lived programs. */
  readonly jvm?: readonly string[]
}

/** A node of a cluster in which `restart` starts it with the same data and ports, after `kill` or `shutDown`. */
export type ClusterNode = Pick<
  KafkaNode,
  'id' | 'listeners' | 'dataDirectory' | 'pid' | 'kill' | 'shutDown' | 'freeze' | 'thaw' | 'relocate'
> & { restart(): Promise<void> }

/** Three nodes, each a broker and a controller. Topics have three replicas, of which two must be in sync. */
export type KafkaCluster = {
  readonly version: string
  /** `host:port,…` of the plain listeners. */
  readonly bootstrap: string
  /** `host:port,…` of the listeners with TLS and SCRAM. */
  readonly securedBootstrap: string
  /** The node with the id 1 is the first. */
  readonly nodes: readonly ClusterNode[]
  /** Settings of a client that logs in as one of the users, as in the properties file of a Java client. */
  clientSettings(user: string): Readonly<Record<string, string>>
  /** Stops the nodes and removes their data. */
  stop(): Promise<void>
}

const NODE_IDS = [1, 2, 3]
const SMALL_HEAP = [...SHORT_LIVED.filter((argument) => !argument.startsWith('-Xmx')), '-Xmx320m']

/** Starts a cluster for one test and waits until each node is ready. */
export async function startKafkaCluster(options: KafkaClusterOptions = {}): Promise<KafkaCluster> {
  const version = options.version ?? KAFKA_VERSIONS[0]
  const users = Object.entries(options.users ?? {})
  const properties = {
    ...brokerTls(),
    ...saslListener('sasl_ssl', 'SCRAM-SHA-512'),
    ...(options.superUsers === undefined ? {} : authorizer(options.superUsers)),
    ...options.properties,
  }
  const { hosts = {}, mountData } = options
  const java = { jvm: options.jvm ?? SMALL_HEAP, startsCold: options.jvm !== undefined }
  const node = { version, listeners: { SASL_SSL: 'SASL_SSL' }, hosts, properties, ...java } as const
  const nodes = await Promise.all(NODE_IDS.map((id) => createKafkaNode(id, node)))
  const unmount = await Promise.all(nodes.map(({ dataDirectory }) => mountData?.(dataDirectory)))
  for (const one of nodes) one.configure(nodes)
  const [first, ...others] = nodes as [KafkaNode, ...KafkaNode[]]
  await first.format(users.flatMap(([name, password]) => scramUser(name, password)))
  for (const other of others) other.formatLike(first)
  const stop = async () => {
    await Promise.all(unmount.map((one) => one?.()))
    await Promise.all(nodes.map((one) => one.remove()))
  }
  try {
    // One at a time would wait for a majority that is not there.
    await Promise.all(nodes.map((one) => one.start()))
  } catch (error) {
    await stop()
    throw error
  }
  const addresses = (listener: string) => nodes.map(({ listeners }) => listeners[listener]).join(',')
  return {
    version,
    bootstrap: addresses('PLAINTEXT'),
    securedBootstrap: addresses('SASL_SSL'),
    nodes: nodes.map(({ start, ...one }) => ({ ...one, restart: start })),
    clientSettings: (user) => scramLogin(user, options.users![user]!),
    stop,
  }
}
